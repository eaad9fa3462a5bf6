#include "pg/server/memory.hpp"

#include "core/base/huge_pages.hpp"
#include "core/base/memory_limit.hpp"

namespace margin::pg {

namespace {

void* allocate_bytes(MemoryContext context, std::size_t bytes) {
  require_session_thread();
  if (bytes > MaxAllocHugeSize) throw std::bad_alloc();
  // No guard: with NO_OOM and a size within bounds nothing in here raises.
  void* p = MemoryContextAllocExtended(context, bytes, MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

}  // namespace

void* ContextResource::do_allocate(std::size_t bytes, std::size_t alignment) {
  const double needed = static_cast<double>(bytes_) + static_cast<double>(bytes);
  if (limit_ >= 0 && needed > limit_)
    throw Error(ErrorKind::limit_exceeded,
                "training needs more memory than margin.memory_limit allows: " + size_text(needed, true) +
                    ", the limit is " + size_text(limit_, false),
                "Raise margin.memory_limit, or train on a sample of the rows.",
                "Rows read so far: " + std::to_string(*rows_) + ".");
  if (alignment > MAXIMUM_ALIGNOF) throw std::bad_alloc();
  void* p = allocate_bytes(context_, std::max<std::size_t>(bytes, 1));
  bytes_ += bytes;
  prefer_huge_pages(p, bytes);
  return p;
}

void ContextResource::do_deallocate(void* p, std::size_t bytes, std::size_t) {
  bytes_ -= bytes;
  pfree(p);
}

void* allocate_in(MemoryContext context, std::size_t bytes) { return allocate_bytes(context, bytes); }

MemoryContext aggregate_context(FunctionCallInfo fcinfo) {
  MemoryContext context = nullptr;
  if (AggCheckCallContext(fcinfo, &context) == 0)
    throw Error(ErrorKind::unsupported, "this function can only be called as part of an aggregate");
  return context;
}

}  // namespace margin::pg
