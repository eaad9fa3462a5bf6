#include "core/data/row.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/math/norm.hpp"

namespace margin {

double value_at(const Row& x, std::int32_t j) {
  if (x.indices == nullptr) return x.value(j);
  const std::int32_t* end = x.indices + x.count;
  const std::int32_t* found = std::lower_bound(x.indices, end, j);
  return found != end && *found == j ? x.value(static_cast<std::int32_t>(found - x.indices)) : 0.0;
}

void require_finite(const Row& x, const char* clause) {
  const auto n = static_cast<std::size_t>(x.count);
  if (x.wide ? simd().finite_d(x.doubles(), n) : simd().finite_f(x.floats(), n)) return;
  std::int32_t k = 0;
  while (std::isfinite(x.value(k))) ++k;
  const double v = x.value(k);
  throw Error(ErrorKind::invalid_value,
              "feature " + std::to_string((x.indices != nullptr ? x.indices[k] : k) + 1) + " is " +
                  (std::isnan(v) ? "NaN" : (v > 0 ? "Infinity" : "-Infinity")) + ", expected a finite number",
              std::string("Leave such rows out with ") + clause + ", or replace the value.");
}

double max_abs(const Row& x) {
  const auto n = static_cast<std::size_t>(x.count);
  return x.wide ? simd().max_abs_d(x.doubles(), n) : simd().max_abs_f(x.floats(), n);
}

double squared_norm(const Row& x, double scale) {
  const auto n = static_cast<std::size_t>(x.count);
  if (scale == 1.0)
    return x.wide ? simd().dot_dd(x.doubles(), x.doubles(), n) : simd().dot_ff(x.floats(), x.floats(), n);
  double sum = 0;
  for (std::int32_t k = 0; k < x.count; ++k) {
    const double v = scale * x.value(k);
    sum += v * v;
  }
  return sum;
}

double norm(const Row& x, double square) {
  if (square >= 1e-200 && square <= 1e200) return std::sqrt(square);
  const double top = max_abs(x);  // near the ends of the exponent range: square scaled values
  if (top == 0) return 0;
  const double scale = unit_scale(top);
  return std::sqrt(squared_norm(x, scale)) / scale;
}

}  // namespace margin
