// In place of pg/server/spill.cpp and poll_trace.cpp: PGlite maps no file into memory, and counts neither pages nor the time of a thread.
#include "pg/server/poll_trace.hpp"
#include "pg/server/spill.hpp"

namespace margin::pg {

// All of the limit is for rows in memory: beyond it the training ends, as ContextResource says.
SpillStore::SpillStore(MemoryContext context, double)
    : BlockStore(std::numeric_limits<std::size_t>::max(), std::size_t{4} << 20), context_(context), resident_(0) {}
char* SpillStore::allocate(std::size_t) { throw std::bad_alloc(); }
void SpillStore::release(char*, std::size_t) noexcept {}
void trim_spilled_rows() {}
void notice_of_spill(const Dataset&) {}

TracedCall::TracedCall(const char* function) : function_(function), outer_(nullptr) {}
TracedCall::~TracedCall() = default;
void TracedCall::report() {}
void trace_poll() {}
void trace_others() {}

}  // namespace margin::pg
