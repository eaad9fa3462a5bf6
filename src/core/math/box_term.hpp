// One weight between two bounds: what the penalty and a box leave of the linear term −q w,
//   T(q) = min over l ≤ w ≤ u of μ/2 w² + κ|w| − q w,
// concave in q, with the slope −w there; its minimum is at clip(soft(q, κ)/μ, l, u). With μ = 0 it is at an end of the box, or
// at 0, and −∞ where q passes κ on a side without an end.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/math/rounding.hpp"

namespace margin {

/// Where T(q) is attained, to an ulp or two of the weight without bounds; ±∞ where it is attained nowhere.
inline double box_minimiser(double q, double mu, double kappa, double l, double u) {
  const double left = q > kappa ? q - kappa : q < -kappa ? q + kappa : 0.0;
  const double free = mu > 0 ? left / mu : left > 0 ? infinity : left < 0 ? -infinity : 0.0;
  return std::min(std::max(free, l), u);
}

/// The function of w at the minimiser, without bounds on its rounding.
inline double box_value(double q, double mu, double kappa, double l, double u) {
  const double w = box_minimiser(q, mu, kappa, l, u);
  return w == 0 ? 0.0 : mu / 2 * w * w + kappa * std::fabs(w) - q * w;
}

/// ≤ T(q), for exact q, μ, κ ≥ 0: each of its three terms errs by two ulps, and so does the minimiser, which costs the square of
/// that share of them; −∞ where there is no end or a number overflows. As T rises with μ and κ, rounding these down is on the safe side.
inline double box_term(double q, double mu, double kappa, double l, double u) {
  const double w = box_minimiser(q, mu, kappa, l, u);
  if (w == 0) return 0;
  const double square = mu / 2 * w * w, absolute = kappa * std::fabs(w), product = q * w;
  const double value = (square + absolute) - product;
  const double least = value - 8 * epsilon * (square + absolute + std::fabs(product)) - 16 * tiny;
  return least > -infinity ? least : -infinity;
}

/// ≤ T(q') of every q' with |q' − q| ≤ error: a concave function is least at an end.
inline double box_term(double q, double error, double mu, double kappa, double l, double u) {
  const double off = error + 2 * epsilon * (std::fabs(q) + error);
  return std::min(box_term(q - off, mu, kappa, l, u), box_term(q + off, mu, kappa, l, u));
}

}  // namespace margin
