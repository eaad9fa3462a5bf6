// Some columns of a row: what threads that share the columns of a sum add to it.
#pragma once

#include <algorithm>

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

}  // namespace margin
