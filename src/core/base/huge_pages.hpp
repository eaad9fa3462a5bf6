// Huge pages for arrays that are filled once or visited in random order: with pages of 4 kB the first costs as much
// time as reading the rows that go into them, and every visit of the second waits for the page table too.
#pragma once

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace margin {

/// Tells the kernel about the whole pages of a block. A hint only: nothing changes where the kernel does not follow it.
inline void advise_pages(void* p, std::size_t bytes, std::uintptr_t page, int advice) {
  const auto first = (reinterpret_cast<std::uintptr_t>(p) + page - 1) / page * page;
  const auto last = (reinterpret_cast<std::uintptr_t>(p) + bytes) / page * page;
  const int error = errno;
  madvise(reinterpret_cast<void*>(first), last - first, advice);
  errno = error;
}

/// Asks for huge pages where a block may hold one.
inline void prefer_huge_pages([[maybe_unused]] void* p, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  constexpr std::uintptr_t huge = std::uintptr_t{2} << 20;
  if (bytes >= huge) advise_pages(p, bytes, huge, MADV_HUGEPAGE);
#endif
}

/// Asks for the pages of a block that will be filled soon, all at once: a fault for each page that is touched for the first time
/// takes longer than the page does, and small trainings, whose blocks go back to the system each time, meet hundreds of them.
/// Not where it is so little that it may be there already, or so much that a query could not be cancelled meanwhile.
inline void populate([[maybe_unused]] void* p, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_POPULATE_WRITE
  constexpr std::size_t least = std::size_t{1} << 16, most = std::size_t{4} << 20;
  if (bytes >= least && bytes <= most) advise_pages(p, bytes, 4096, MADV_POPULATE_WRITE);
#endif
}

/// A vector of `size` values, not yet touched when it asks for its pages.
template <class T>
std::vector<T> spread(std::size_t size, const T& value = T()) {
  std::vector<T> result;
  result.reserve(size);
  prefer_huge_pages(result.data(), size * sizeof(T));
  populate(result.data(), size * sizeof(T));
  result.assign(size, value);
  return result;
}

}  // namespace margin
