// Where blocks of rows go that memory is too small for: in the server, a temporary file.
#pragma once

#include <cstddef>

namespace margin {

/// Blocks at addresses that stay, outside of what counts as memory. A block is written by whom it was handed to, until
/// the next one is asked for; from then on it is only read. So one store serves several data sets that are filled one
/// after the other.
class BlockStore {
 public:
  BlockStore(std::size_t share, std::size_t block) : share_(share), block_(block) {}

  /// Bytes of blocks from which on a data set moves them here.
  std::size_t share() const { return share_; }
  /// The size of a block, unless a row needs more.
  std::size_t block() const { return block_; }

  /// Zeros, at an address that is a multiple of 64. Throws what the file's owner throws: a full disk, a cancel.
  virtual char* allocate(std::size_t bytes) = 0;
  /// A block that allocate() returned is not needed any more.
  virtual void release(char* at, std::size_t bytes) noexcept = 0;

 protected:
  ~BlockStore() = default;

 private:
  std::size_t share_, block_;
};

}  // namespace margin
