#include "core/math/duality_map.hpp"

#include <algorithm>
#include <cmath>

#include "core/simd/loops.hpp"

namespace margin {

void powers(const double* v, Eigen::Index n, double scale, double exponent, double* out) {
  if (exponent == 0)
    std::fill(out, out + n, 1.0);
  else
    simd().power(v, static_cast<std::size_t>(n), scale, exponent, out);
}

double dual_map(const Eigen::VectorXd& u, double r, Eigen::VectorXd& w) {
  w.resize(u.size());
  const double top = u.size() > 0 ? u.cwiseAbs().maxCoeff() : 0.0;
  if (!(top > 0)) {
    w.setZero();
    return 0;
  }
  powers(u.data(), u.size(), 1 / top, r - 2, w.data());
  double sum = 0;
  for (Eigen::Index j = 0; j < u.size(); ++j) {
    const double v = u(j) / top;
    w(j) *= v;
    sum += w(j) * v;
  }
  return top * std::pow(sum, 1 / r);
}

}  // namespace margin
