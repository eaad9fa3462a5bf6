#include "core/math/norm.hpp"

#include <algorithm>
#include <cmath>

#include "core/simd/loops.hpp"
#include "core/simd/plain_dot.hpp"

namespace margin {

double unit_scale(double norm) {
  if (!(norm > 0)) return 1;
  int exponent = 0;
  std::frexp(norm, &exponent);
  return std::ldexp(1.0, std::clamp(-exponent, -1020, 1020));
}

double lp_norm(const double* v, Eigen::Index n, double p) {
  if (p == 2) {
    // One pass, several sums at a time: one by one each addition waits for the last. What squares lose below the range of
    // doubles is no share of such a sum; and a number that is none, or infinite, makes it no number or infinite too.
    const double square = plain_dots().of_doubles(v, v, static_cast<std::size_t>(n));
    if (square >= 1e-200 && square <= 1e200) return std::sqrt(square);
  }
  if (!simd().finite_d(v, static_cast<std::size_t>(n))) return std::numeric_limits<double>::infinity();
  const double top = simd().max_abs_d(v, static_cast<std::size_t>(n));
  if (top == 0 || std::isinf(p)) return top;
  const double scale = unit_scale(top);  // a power of two: exact
  double sum = 0;
  if (p == 1) {
    for (Eigen::Index j = 0; j < n; ++j) sum += std::fabs(scale * v[j]);
    return sum / scale;
  }
  if (p == 2) {
    for (Eigen::Index j = 0; j < n; ++j) sum += (scale * v[j]) * (scale * v[j]);
    return std::sqrt(sum) / scale;
  }
  // Relative to the largest: even the power 10001, the dual of 1.0001, of that is 1, and the sum cannot vanish.
  for (Eigen::Index j = 0; j < n; ++j)
    if (v[j] != 0) sum += std::pow(std::fabs(v[j]) / top, p);
  return top * std::pow(sum, 1 / p);
}

}  // namespace margin
