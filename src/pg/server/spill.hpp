// Rows beyond margin.memory_limit: a temporary file of the server, mapped into memory.
#pragma once

#include "pg/server/boundary.hpp"
#include "pg/server/linked.hpp"

namespace margin::pg {

class SpillFile;

/// The blocks of one group's rows in a temporary file, which is made with the first block and goes with `context`. It
/// counts against temp_file_limit and lies in temp_tablespaces. A block is memory until the next one is asked for; then
/// it is written to the file, and the file's pages take its place at the same address.
class SpillStore final : public BlockStore {
 public:
  /// `limit` in bytes: margin.memory_limit.
  SpillStore(MemoryContext context, double limit);

  /// Throws BackendError: a cancel, temp_file_limit, a full disk; std::bad_alloc.
  char* allocate(std::size_t bytes) override;
  void release(char* at, std::size_t bytes) noexcept override;

 private:
  MemoryContext context_;
  std::size_t resident_;  // bytes of the file that may be in memory at a time
  SpillFile* file_ = nullptr;
};

inline bool rows_are_spilled() { return !Linked<SpillFile>::none(); }

/// Gives pages of spilled rows back to the kernel when those in memory exceed what their limit allows; the file keeps
/// them. To be called while rows are read, about once a millisecond.
void trim_spilled_rows();

/// Tells the user what went to disk, if anything did.
void notice_of_spill(const Dataset& data);

}  // namespace margin::pg
