#include "core/math/box_term.hpp"

#include <algorithm>
#include <cmath>

#include "core/math/rounding.hpp"

namespace margin {

double box_minimiser(double q, double mu, double kappa, double l, double u) {
  const double left = q > kappa ? q - kappa : q < -kappa ? q + kappa : 0.0;
  const double free = mu > 0 ? left / mu : left > 0 ? infinity : left < 0 ? -infinity : 0.0;
  return std::min(std::max(free, l), u);
}

double box_value(double q, double mu, double kappa, double l, double u) {
  const double w = box_minimiser(q, mu, kappa, l, u);
  return w == 0 ? 0.0 : mu / 2 * w * w + kappa * std::fabs(w) - q * w;
}

double box_term(double q, double mu, double kappa, double l, double u) {
  const double w = box_minimiser(q, mu, kappa, l, u);
  if (w == 0) return 0;
  const double square = mu / 2 * w * w, absolute = kappa * std::fabs(w), product = q * w;
  const double value = (square + absolute) - product;
  const double least = value - 8 * epsilon * (square + absolute + std::fabs(product)) - 16 * tiny;
  return least > -infinity ? least : -infinity;
}

double box_term(double q, double error, double mu, double kappa, double l, double u) {
  const double off = error + 2 * epsilon * (std::fabs(q) + error);
  return std::min(box_term(q - off, mu, kappa, l, u), box_term(q + off, mu, kappa, l, u));
}

}  // namespace margin
