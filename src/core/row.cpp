#include "row.hpp"

namespace margin {

double max_abs(const Row& x) {
  const auto n = static_cast<std::size_t>(x.count);
  return x.wide ? kernels().max_abs_d(x.doubles(), n) : kernels().max_abs_f(x.floats(), n);
}

double squared_norm(const Row& x, double scale) {
  const auto n = static_cast<std::size_t>(x.count);
  if (scale == 1.0)
    return x.wide ? kernels().dot_dd(x.doubles(), x.doubles(), n) : kernels().dot_ff(x.floats(), x.floats(), n);
  double sum = 0;
  for (std::int32_t k = 0; k < x.count; ++k) {
    const double v = scale * x.value(k);
    sum += v * v;
  }
  return sum;
}

}  // namespace margin
