// The few rows that carry a hard margin in an lp norm, and their problem solved to high precision:
//
//   min ‖u‖_r,  u = Σ q_i z_i,   over q ≥ 0 with sum 1 (free intercept: each class has mass ½),   1/p + 1/r = 1, r > 2.
//
// Newton's method on f = ‖u‖_r^r / r, whose Hessian in u is the diagonal (r−1)|u_j|^(r−2). With the square completed,
// the model of f around u is again a point of least norm, that of the vectors
//
//   √P (z_i − u + w/((r−1)P)),   P_j = |u_j|^(r−2), w_j = |u_j|^(r−1) sign(u_j),
//
// so solvers/l2_margin/min_norm_point.hpp solves it exactly, inequalities included; then a line search on f. P is
// bounded from below, because a column where u_j = 0 has no curvature and would let the step go anywhere. ‖u‖_r bounds
// the margin of all rows from above at every step.
#pragma once

#include <functional>
#include <unordered_set>

#include "core/base/progress.hpp"
#include "core/data/kept_rows.hpp"
#include "core/problem/problem.hpp"

namespace margin {

class LpWorkingSet {
 public:
  /// Two classes; rows count as scale · x, whose norm should be at most 1. `problem` is kept by reference.
  LpWorkingSet(const Problem& problem, double scale);

  std::size_t size() const { return rows_.size(); }
  std::size_t support() const;
  /// Adds a row unless it is there; false when it was.
  bool add(std::int64_t row);

  /// Start from row weights (rows × 1, in any scale) that are 0 outside of the working set.
  void start(const Weights& dual);

  enum class Ending { optimal, stalled };
  /// Until ‖u‖_r is within the relative `tolerance` of the working set's minimum, or rounding ends progress.
  ///
  Ending solve(double tolerance, const Progress& progress);

  double norm() const { return norm_; }                    ///< ‖u‖_r in scaled units
  const Eigen::VectorXd& direction() const { return w_; }  ///< the weights that u stands for, largest entry 1
  /// (row, q) of the rows that carry weight.
  std::vector<std::pair<std::int64_t, double>> weights() const;

 private:
  double sign(std::size_t i) const { return problem_.sign(rows_[i]); }
  Eigen::VectorXd sum(const Eigen::VectorXd& q) const;  ///< Σ q_i z_i
  /// Refreshes norm_, w_, margins_ and returns the relative gap of the working set's own interval.
  double measure();
  /// Rows that may carry weight after the next step: those that do, and the closest others.
  std::vector<std::size_t> candidates() const;
  Eigen::VectorXd target(double floor, double tolerance, const Progress& progress) const;
  double line_search(const Eigen::VectorXd& step, const Progress& progress) const;

  const Problem& problem_;
  double scale_, p_, r_;
  std::vector<std::int64_t> rows_;
  KeptRows kept_;  // the same
  std::unordered_set<std::int64_t> known_;
  Eigen::VectorXd q_, u_, w_, margins_;
  double nearest_[2] = {0, 0};  // smallest margin of each class (without intercept: of all), for weights w_
  double norm_ = 0;
};

}  // namespace margin
