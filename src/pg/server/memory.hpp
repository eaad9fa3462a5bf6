// C++ memory inside PostgreSQL's memory contexts.
#pragma once

#include "pg/server/boundary.hpp"

namespace margin::pg {

/// std::pmr over a memory context: no 1 GB wall, no jump out of an allocation, and an aborted query frees
/// everything. Counts its bytes against a limit. Throws Error(limit_exceeded), std::bad_alloc.
class ContextResource final : public std::pmr::memory_resource {
 public:
  /// `rows` is read for the error message only.
  ContextResource(MemoryContext context, double limit_bytes, const std::int64_t* rows)
      : context_(context), limit_(limit_bytes), rows_(rows) {}

  std::size_t bytes() const { return bytes_; }
  /// Bytes below the limit that are left, negative for no limit.
  double left() const { return limit_ < 0 ? -1 : std::max(0.0, limit_ - static_cast<double>(bytes_)); }

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void* p, std::size_t bytes, std::size_t alignment) override;
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  MemoryContext context_;
  double limit_;
  const std::int64_t* rows_;
  std::size_t bytes_ = 0;
};

/// margin.memory_limit in bytes, negative for none.
inline double memory_limit() { return guc_memory_limit < 0 ? -1 : 1024.0 * guc_memory_limit; }

/// palloc in `context`, as an exception when memory is short.
void* allocate_in(MemoryContext context, std::size_t bytes);

/// An object with destructors to run that lives as long as `context`: it is destroyed when the context is reset.
template <class T, class... Arguments>
T* create_in(MemoryContext context, Arguments&&... arguments) {
  struct Holder {
    MemoryContextCallback callback;
    alignas(T) unsigned char bytes[sizeof(T)];
  };
  static_assert(alignof(Holder) <= MAXIMUM_ALIGNOF);
  auto* holder = static_cast<Holder*>(allocate_in(context, sizeof(Holder)));
  T* object = new (holder->bytes) T(std::forward<Arguments>(arguments)...);
  holder->callback.func = [](void* p) { static_cast<T*>(p)->~T(); };
  holder->callback.arg = object;
  MemoryContextRegisterResetCallback(context, &holder->callback);
  return object;
}

/// The object of type T that this call site keeps for the query, made by T(fcinfo, arguments...) at the first call.
template <class T, class... Arguments>
T& query_state(FunctionCallInfo fcinfo, const Arguments&... arguments) {
  if (fcinfo->flinfo->fn_extra == nullptr)
    fcinfo->flinfo->fn_extra = create_in<T>(fcinfo->flinfo->fn_mcxt, fcinfo, arguments...);
  return *static_cast<T*>(fcinfo->flinfo->fn_extra);
}

/// The context of the running aggregate. Throws when the function was not called as part of one.
MemoryContext aggregate_context(FunctionCallInfo fcinfo);

}  // namespace margin::pg
