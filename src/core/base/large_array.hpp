// Arrays of numbers that may become as large as memory allows. Not initialised: what is not written takes no memory.
// They ask for huge pages, a hint: a gigabyte of 4 kB pages takes 60 ms to give back, which a cancelled query has to wait
// for, and to fault them in took half the time of a kernel machine of 10,000 rows.
#pragma once

#include <cfloat>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <new>
#include <utility>
#include <vector>

#include "core/base/huge_pages.hpp"

namespace margin {

static_assert(
    FLT_EVAL_METHOD != 2 && FLT_EVAL_METHOD != -1,
    "margin needs sums of doubles in double precision (a 64-bit system, or -msse2 -mfpmath=sse): those in x87 "
    "registers would not be what the certificates assume");

template <class T>
struct LargeAllocator {
  using value_type = T;
  LargeAllocator() = default;
  template <class U>
  explicit LargeAllocator(const LargeAllocator<U>&) {}

  T* allocate(std::size_t n) {
    if (n > std::numeric_limits<std::size_t>::max() / 16 / sizeof(T)) throw std::bad_alloc();
    const std::size_t bytes = (n * sizeof(T) + alignment - 1) / alignment * alignment;
    void* const p = std::aligned_alloc(alignment, bytes);
    if (p == nullptr) throw std::bad_alloc();
    prefer_huge_pages(p, bytes);
    return static_cast<T*>(p);
  }
  void deallocate(T* p, std::size_t) { std::free(p); }

  /// `LargeArray(n)` and resize() leave the values as they are.
  template <class U>
  void construct(U* p) noexcept {
    ::new (static_cast<void*>(p)) U;
  }
  template <class U, class... Arguments>
  void construct(U* p, Arguments&&... arguments) {
    ::new (static_cast<void*>(p)) U(std::forward<Arguments>(arguments)...);
  }

  friend bool operator==(const LargeAllocator&, const LargeAllocator&) { return true; }
  friend bool operator!=(const LargeAllocator&, const LargeAllocator&) { return false; }

 private:
  static constexpr std::size_t alignment = 64;
};

using LargeArray = std::vector<double, LargeAllocator<double>>;

}  // namespace margin
