// Some columns of a row, and sums of rows on threads that share the columns.
#pragma once

#include <algorithm>

#include "core/base/threads.hpp"
#include "core/data/row.hpp"

namespace margin {

/// w[j] += a x_j for from ≤ j < to, with the bits of add().
inline void add_part(double a, const Row& x, std::int32_t from, std::int32_t to, double* w) {
  if (x.indices == nullptr) {
    const std::int32_t end = std::min(to, x.count);
    if (from >= end) return;
    const auto n = static_cast<std::size_t>(end - from);
    if (x.wide)
      simd().axpy_d(a, x.doubles() + from, w + from, n);
    else
      simd().axpy_f(a, x.floats() + from, w + from, n);
    return;
  }
  const std::int32_t* const last = x.indices + x.count;
  for (const std::int32_t* at = std::lower_bound(x.indices, last, from); at != last && *at < to; ++at) {
    const auto k = static_cast<std::size_t>(at - x.indices);
    w[*at] += a * (x.wide ? x.doubles()[k] : static_cast<double>(x.floats()[k]));
  }
}

/// w += Σ factor(k) row(k) over k = 0 … count − 1, on `threads`, which share the columns: every sum is one thread's, in this
/// order. `values`: how many the rows have together.
template <class RowOf, class Factor>
void add_rows(std::int64_t count, RowOf row, Factor factor, double values, std::int32_t dimensions, double* w,
              Threads& threads, const Progress& progress) {
  constexpr std::int64_t panel = 64;  // columns that stay together
  const std::int64_t panels = (dimensions + panel - 1) / panel;
  const Chunks columns(panels, values / static_cast<double>(std::max<std::int64_t>(1, panels)));
  threads.run(columns.count(), progress, [&](std::size_t part, const Progress& own) {
    const auto from = static_cast<std::int32_t>(columns.begin(part) * panel),
               to = static_cast<std::int32_t>(std::min<std::int64_t>(dimensions, columns.end(part) * panel));
    const double share = static_cast<double>(to - from) / dimensions;
    for (std::int64_t k = 0; k < count; ++k) {
      const Row x = row(k);
      own.work(share * x.count + 4.0);
      add_part(factor(k), x, from, to, w);
    }
  });
}

}  // namespace margin
