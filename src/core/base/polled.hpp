// Long single operations of the standard library and of Eigen in steps that ask for interrupts: sorting, copying, loops of a
// few operations per row, and making large arrays of zeros (fresh memory costs more than its zeroing: the kernel hands it out
// page by page).
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/base/huge_pages.hpp"
#include "core/base/matrix.hpp"
#include "core/base/progress.hpp"

namespace margin {

/// std::sort that tells of its comparisons.
template <class Iterator, class Less>
void polled_sort(Iterator first, Iterator last, Less less, const Progress& progress) {
  std::uint32_t compared = 0;
  std::sort(first, last, [&](const auto& a, const auto& b) {
    if (++compared % 4096 == 0) progress.work(4096.0 * 16);  // half of the branches are mispredicted
    return less(a, b);
  });
}

/// f(i) for i = 0 … n − 1, each of about `operations` multiply-adds, in steps between which it polls.
template <class Function>
void polled_each(std::int64_t n, double operations, const Progress& progress, Function&& f) {
  constexpr std::int64_t step = 1024;
  for (std::int64_t i = 0; i < n;) {
    const std::int64_t begin = i, end = std::min(n, i + step);
    for (; i < end; ++i) f(i);
    progress.work(operations * static_cast<double>(end - begin));
  }
}

/// Whether `holds(i)` is true for all i = 0 … n − 1, of about `operations` each, in steps between which it polls.
template <class Predicate>
bool polled_all(std::size_t n, double operations, const Progress& progress, Predicate&& holds) {
  constexpr std::size_t step = 65536;
  for (std::size_t i = 0; i < n;) {
    const std::size_t begin = i, end = std::min(n, i + step);
    for (; i < end; ++i)
      if (!holds(i)) return false;
    progress.work(operations * static_cast<double>(end - begin));
  }
  return true;
}

/// std::memcpy in steps between which it polls.
inline void polled_copy(void* to, const void* from, std::size_t size, const Progress& progress) {
  constexpr std::size_t step = std::size_t{512} << 10;
  for (std::size_t done = 0; done < size; done += step) {
    const std::size_t n = std::min(step, size - done);
    std::memcpy(static_cast<char*>(to) + done, static_cast<const char*>(from) + done, n);
    progress.work(static_cast<double>(n) / 2);
  }
}

/// A text that ends with a 0, whose length alone is a pass over all of it.
inline std::string_view polled_text(const char* text, const Progress& progress) {
  constexpr std::size_t step = std::size_t{512} << 10;
  for (std::size_t size = 0;;) {
    const std::size_t more = strnlen(text + size, step);
    size += more;
    if (more < step) return {text, size};
    progress.work(static_cast<double>(step) / 2);
  }
}

/// rows × columns zeros.
inline Weights polled_zeros(std::int64_t rows, std::int32_t columns, const Progress& progress) {
  Weights out(rows, columns);
  prefer_huge_pages(out.data(), static_cast<std::size_t>(out.size()) * sizeof(double));
  constexpr Eigen::Index step = 65536;
  double* const at = out.data();
  for (Eigen::Index from = 0; from < out.size(); from += step) {
    const Eigen::Index n = std::min(step, out.size() - from);
    std::fill_n(at + from, n, 0.0);
    progress.work(2.0 * static_cast<double>(n));
  }
  return out;
}

/// Gives a large matrix back to the kernel in steps: at once it would take tens of milliseconds per gigabyte.
inline void polled_release(Weights& m, [[maybe_unused]] const Progress& progress) {
#ifdef MADV_DONTNEED
  constexpr std::uintptr_t page = 65536, step = std::uintptr_t{8} << 20;
  const auto begin = reinterpret_cast<std::uintptr_t>(m.data());
  const std::uintptr_t end = begin + static_cast<std::uintptr_t>(m.size()) * sizeof(double);
  // Whole pages inside of the block only: what the allocator notes before and after it stays.
  for (std::uintptr_t at = (begin + page) / page * page; end - begin > step && at + step < end; at += step) {
    const int error = errno;
    madvise(reinterpret_cast<void*>(at), step, MADV_DONTNEED);
    errno = error;
    progress.work(1048576.0);
  }
#endif
  m.resize(0, 0);
}

/// A vector that holds `size` times `value`, through any vector of plain values.
template <class Vector>
void polled_assign(Vector& v, std::size_t size, const typename Vector::value_type& value, const Progress& progress) {
  constexpr std::size_t step_bytes = std::size_t{512} << 10;
  const std::size_t step = std::max<std::size_t>(1, step_bytes / sizeof value);
  v.clear();
  v.reserve(size);
  prefer_huge_pages(v.data(), size * sizeof value);
  while (v.size() < size) {
    const std::size_t n = std::min(step, size - v.size());
    v.resize(v.size() + n, value);
    progress.work(static_cast<double>(n * sizeof value) / 4);
  }
}

}  // namespace margin
