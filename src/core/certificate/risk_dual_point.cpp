// The point that the dual weights of a regularised risk make, less the weights (certificate/ball.hpp): soft(v, λρ f)/(λ(1−ρ)f)
// of the v of certificate/risk.hpp, between the bounds of the weights.
#include <algorithm>
#include <cmath>

#include "core/certificate/ball.hpp"
#include "core/certificate/risk.hpp"
#include "core/math/norm.hpp"
#include "core/math/rounding.hpp"

namespace margin {

std::shared_ptr<const DualPoint> RiskCheck::dual_point(const Progress&) const {
  if (!(objective_.l1_ratio < 1)) return nullptr;
  std::vector<OutputPoint> outputs;
  for (std::int32_t o = 0; o < objective_.outputs(); ++o)
    outputs.push_back(output_point(o, weights_ + static_cast<std::ptrdiff_t>(o) * objective_.dimensions,
                                   intercept_ != nullptr ? intercept_[o] : 0.0, primal(o)));
  return stored_dual_point(objective_, StoredSum(total_weight_, static_cast<double>(rows_), total_weight()), outputs);
}

OutputPoint RiskCheck::output_point(std::int32_t o, const double* weights, double intercept, double upper) const {
  const std::int32_t d = objective_.dimensions;
  const double mu = objective_.lambda * (1 - objective_.l1_ratio), constant = objective_.constant_feature();
  OutputPoint point;
  point.offset = -Eigen::Map<const Eigen::RowVectorXd>(weights, d);
  if (objective_.offset >= 0) point.offset(objective_.offset) = 0;  // its weight is known
  if (constant > 0) point.intercept = -intercept;
  DualSum sum;
  const bool proves = dual_sum(o, sum);
  const double lower = dual(o, proves ? &sum : nullptr), own = lp_norm(weights, d, 2);
  point.gap = std::max(0.0, upper - lower) * (1 + 4 * epsilon);
  // A lower end of 0 is proven by the dual weights 0, whose point is 0.
  if (!(lower > 0) || !proves) return point;
  double least = 1;
  // Nothing but the squared norm on any weight: the same numbers by the vector.
  const bool plain = objective_.l1_ratio == 0 && objective_.penalty_factor.empty() && objective_.bounds.empty() &&
                     objective_.offset < 0;
  Eigen::VectorXd held = Eigen::VectorXd::Zero(d);
  if (plain) {
    held = sum.v / mu;
    point.offset += held.transpose();
  }
  for (std::int32_t j = 0; !plain && j < d; ++j) {
    if (!objective_.penalises(j)) continue;
    const double f = objective_.factor(j), kappa = objective_.lambda * objective_.l1_ratio * f;
    const double part = std::fabs(sum.v(j)), left = std::max(0.0, part - kappa) / (mu * f);
    least = std::min(least, f);
    held(j) = part / (mu * f);
    const double free = std::copysign(left, sum.v(j));
    point.offset(j) += objective_.bounds.empty() ? free : objective_.bounds.clip(free, static_cast<std::size_t>(j));
  }
  // Soft thresholding cancels: what it leaves errs by ulps of what it had. The norm itself errs by d ulps.
  double size = lp_norm(held.data(), d, 2);
  const double of_intercept = sum.of_intercept / mu;
  if (constant > 0) {
    size += std::fabs(of_intercept) + std::fabs(point.intercept) / constant;
    point.intercept += constant * of_intercept;
  }
  point.error = sum.moved / (mu * least) * (1 + epsilon * (d + 16.0)) + 8 * epsilon * (size * (1 + epsilon * d) + own) +
                (d + 8.0) * tiny;
  return point;
}

}  // namespace margin
