// The multipliers of constraints that prove most with given dual weights: of what D of certificate/risk.hpp says of ν,
//   − min over ν of ‖v − Aᵀν‖²/(2λ) + Σ_k (ν_k u_k or ν_k l_k)   (between bounds: Σ_j T_j in place of the square),
// is the dual of the weights nearest to v/λ that meet bounds and constraints, whose multipliers they are: a quadratic program of the
// features, without the rows.
#include "core/certificate/risk.hpp"
#include "core/problem/constraints.hpp"

namespace margin {

Eigen::VectorXd RiskCheck::image(std::int32_t output) const {
  DualSum sum;
  if (!row_sum(output, sum)) return Eigen::VectorXd::Zero(objective_.dimensions);
  return std::move(sum.v);
}

void RiskCheck::find_multipliers(const Progress& progress) {
  Constraints& c = objective_.constraints;
  if (c.empty() || objective_.l1_ratio > 0 || !objective_.penalty_factor.empty()) return;
  Weights found = Weights::Zero(objective_.outputs(), static_cast<Eigen::Index>(c.count()));
  for (std::int32_t o = 0; o < objective_.outputs(); ++o) {
    const double* const w = weights_ + static_cast<std::ptrdiff_t>(o) * objective_.dimensions;
    const std::vector<double> own = best_multipliers(objective_, w, image(o), progress);
    found.row(o) = Eigen::Map<const Eigen::RowVectorXd>(own.data(), found.cols());
  }
  c.multipliers = std::move(found);
}

}  // namespace margin
