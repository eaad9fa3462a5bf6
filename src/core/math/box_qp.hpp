// A quadratic program with an interval for every row:
//
//   max over α of  Σ α_i⁺ lower_i − α_i⁻ upper_i − ½ αᵀG α      (free intercept: Σα = 0; b is its multiplier)
//
// which is the dual of min ½‖w‖² such that lower_i ≤ <x_i, w> + b ≤ upper_i, G = X Xᵀ. G may be singular and the rows
// may contradict each other: the augmented Lagrangian adds 1/σ to its diagonal and lets σ grow, and each of its
// problems is solved by a semismooth Newton method with an exact line search, one Cholesky factor per set of active
// rows. Contradictory rows show as α that grows with σ along a direction that proves it.
//
// Rockafellar (1976) for the augmented Lagrangian; Qi, Sun (1993) for the Newton method.
#pragma once

#include <Eigen/Core>

#include "core/base/progress.hpp"

namespace margin {

struct IntervalQp {
  Eigen::MatrixXd gram;
  Eigen::VectorXd lower, upper;  ///< ends may be infinite
  bool intercept = false;
};

/// Improves (α, b) in place until the rows are met to `accuracy` (absolute) or no more is gained; returns the last
/// change of α, which for contradictory rows tends to a proof of that.
Eigen::VectorXd solve_interval_qp(const IntervalQp& qp, double accuracy, Eigen::VectorXd& alpha, double& b,
                                  const Progress& progress);

}  // namespace margin
