// Huge pages for arrays that are filled once or visited in random order: with pages of 4 kB the first costs as much
// time as reading the rows that go into them, and every visit of the second waits for the page table too.
#pragma once

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace margin {

/// Asks for huge pages where a block holds several of them. A hint only; it changes nothing where the kernel does not
/// follow it.
inline void prefer_huge_pages([[maybe_unused]] void* p, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  constexpr std::uintptr_t huge = std::uintptr_t{2} << 20;
  if (bytes < 2 * huge) return;
  const auto first = (reinterpret_cast<std::uintptr_t>(p) + huge - 1) / huge * huge;
  const auto last = (reinterpret_cast<std::uintptr_t>(p) + bytes) / huge * huge;
  const int error = errno;
  madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
  errno = error;
#endif
}

/// A vector of `size` values, not yet touched when it asks for huge pages.
template <class T>
std::vector<T> spread(std::size_t size, const T& value = T()) {
  std::vector<T> result;
  result.reserve(size);
  prefer_huge_pages(result.data(), size * sizeof(T));
  result.assign(size, value);
  return result;
}

}  // namespace margin
