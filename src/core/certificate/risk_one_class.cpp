// One-class machines (problem/one_class.hpp) as risks that have b besides, for dual weights of which only sums are known.
//
//   P = λ/2 ‖w‖² + b + (1/W) Σ c_i φ(w·x_i + b),   φ(u) = max(0, −u)/ν,   v = (1/W) Σ c_i a_i x_i,  0 ≤ a_i ≤ 1/ν.
//
// An optimal w is v/λ of an a whose s = Σ c_i a_i/W is 1, so that P* = −(λ/2)‖w‖², and its b is −w·x of some row, |b| ≤ R‖w‖,
// R the largest ‖x_i‖. For any a, P* ≥ −‖v‖²/(2λ) + (1 − s) b: an a that adds up to more is scaled down, and what is missing,
// δ = 1 − s, takes at most δR‖w‖. That makes of z = λ‖w‖ the inequality z² ≤ ‖v‖² + 2δRz, hence z ≤ ‖v‖ + 2δR, and
//
//   D = −(½‖v‖² + δR (‖v‖ + 2δR))/λ.
//
// Without any a, ‖w‖ ≤ R/λ and D = −R²/(2λ). The same for a λ of 1 and dual weights row by row: certificate/one_class.hpp.
#include <algorithm>
#include <cmath>

#include "core/certificate/risk.hpp"
#include "core/math/norm.hpp"

namespace margin {

/// P, of which `value` is all but b.
double RiskCheck::with_boundary(double value, std::int32_t o) const {
  const double b = intercept_ != nullptr ? intercept_[o] : 0.0;
  return value + b + 4 * epsilon * (std::fabs(value) + std::fabs(b));
}

double RiskCheck::one_class_dual(std::int32_t o) const {
  const double up = 1 + epsilon * (objective_.dimensions + 16.0), radius = radius_ * up;
  const auto value_of = [&](double norm, double missing) {
    const double lost = missing * radius;
    return -(0.5 * norm * norm + lost * (norm + 2 * lost)) / objective_.lambda * (1 + 16 * epsilon) - tiny;
  };
  const double known = value_of(radius, 0);
  DualSum of;
  if (!row_sum(o, of)) return known;
  const Output& sum = outputs_[static_cast<std::size_t>(o)];
  // Products c a are rounded, those that were replaced as well: conjugate_size has all of them, as |y| = 1.
  const double weight = total_weight(), s = sum.intercept.value() / weight;
  const double missing = std::max(0.0, 1 - s) + 8 * epsilon * (1 + sum.conjugate_size / weight / std::max(1.0, s)) +
                         tiny * sum.unseen / weight;
  const double norm = (lp_norm(of.v.data(), of.v.size(), 2) * up + of.moved) * std::min(1.0, 1 / s) * (1 + 4 * epsilon);
  const double value = value_of(norm, missing);
  return value > known ? value : known;
}

}  // namespace margin
