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
  const std::int32_t k = objective_.outputs(), d = objective_.dimensions;
  const double mu = objective_.lambda * (1 - objective_.l1_ratio), constant = objective_.constant_feature();
  DualPoint point;
  std::vector<double> gaps;
  const auto rows = static_cast<double>(rows_);
  point.total_weight = StoredSum(total_weight_, rows, total_weight());
  point.offset = -Eigen::Map<const Weights>(weights_, k, d);
  if (objective_.offset >= 0) point.offset.col(objective_.offset).setZero();  // its weight is known
  point.intercept = Eigen::VectorXd::Zero(k);
  if (constant > 0 && intercept_ != nullptr) point.intercept = -Eigen::Map<const Eigen::VectorXd>(intercept_, k);
  for (std::int32_t o = 0; o < k; ++o) {
    const double lower = dual(o), upper = primal(o);
    gaps.push_back(std::max(0.0, upper - lower) * (1 + 4 * epsilon));
    point.error.push_back(0);
    DualSum sum;
    // A lower end of 0 is proven by the dual weights 0, whose point is 0.
    if (!(lower > 0) || !dual_sum(o, sum)) continue;
    double least = 1;
    Eigen::VectorXd held = Eigen::VectorXd::Zero(d);
    for (std::int32_t j = 0; j < d; ++j) {
      if (!objective_.penalises(j)) continue;
      const double f = objective_.factor(j), kappa = objective_.lambda * objective_.l1_ratio * f;
      const double part = std::fabs(sum.v(j)), left = std::max(0.0, part - kappa) / (mu * f);
      least = std::min(least, f);
      held(j) = part / (mu * f);
      const double free = std::copysign(left, sum.v(j));
      point.offset(o, j) +=
          objective_.bounds.empty() ? free : objective_.bounds.clip(free, static_cast<std::size_t>(j));
    }
    // Soft thresholding cancels: what it leaves errs by ulps of what it had. The norm itself errs by d ulps.
    double size = lp_norm(held.data(), d, 2);
    const double of_intercept = sum.of_intercept / mu;
    if (constant > 0) {
      size += std::fabs(of_intercept) + std::fabs(point.intercept(o)) / constant;
      point.intercept(o) += constant * of_intercept;
    }
    point.error.back() = sum.moved / (mu * least) * (1 + epsilon * (d + 16.0)) +
                         8 * epsilon * (size * (1 + epsilon * d) + norms_[static_cast<std::size_t>(o)]) +
                         (d + 8.0) * tiny;
  }
  return stored_dual_point(objective_, std::move(point), gaps);
}

}  // namespace margin
