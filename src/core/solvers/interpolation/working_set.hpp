// Some rows of an interpolation problem, and weights of least lp norm that meet these: for p = 2 one quadratic program,
// for 1 < p < 2 Newton's method on
//
//   max over α of  Σ α_i⁺ lower_i − α_i⁻ upper_i − ‖u‖_r^r / r,   u = Σ α_i x_i    (free intercept: Σα = 0)
//
// which is the dual of min ‖w‖_p^p / p. Each of its models is such a program with the Gram matrix of √P x_i,
// P_j = (r−1)|u_j|^(r−2), and shifted intervals (math/box_qp.hpp); then a line search. After each step α is scaled to
// its best multiple, because ‖u‖_r^r of large r makes Newton's method slow along the ray.
#pragma once

#include <unordered_set>

#include "core/base/progress.hpp"
#include "core/data/kept_rows.hpp"
#include "core/problem/problem.hpp"
#include "core/solvers/run.hpp"

namespace margin {

class IntervalWorkingSet {
 public:
  /// Rows count as row_scale · x (norm at most 1), their ends as end_scale · end. `problem` is kept by reference.
  IntervalWorkingSet(const Problem& problem, double row_scale, double end_scale);

  std::size_t size() const { return rows_.size(); }
  /// Adds a row unless it is there; false when it was.
  bool add(std::int64_t row);
  /// Until the rows are met to `accuracy` (scaled) or rounding ends progress.
  void solve(double accuracy, Run& run);

  const Eigen::VectorXd& weights() const { return w_; }  ///< in scaled units
  double intercept() const { return b_; }
  /// (row, α) in any scale: the dual solution, or where the rows contradict each other the proof of that.
  std::vector<std::pair<std::int64_t, double>> dual() const;
  /// The rows of the working set prove that no weights, or only absurdly large ones, meet them all.
  bool contradictory() const { return contradictory_; }

 private:
  Eigen::VectorXd sum(const Eigen::VectorXd& alpha) const;
  double height(const Eigen::VectorXd& alpha) const;
  Eigen::VectorXd scores(const Eigen::VectorXd& w) const;
  /// Σ_j P_j x_ij x_kj of the working set's rows.
  Eigen::MatrixXd gram(const Eigen::VectorXd& curvature, Run& run) const;
  bool proves_contradiction(const Eigen::VectorXd& alpha) const;
  void best_multiple();
  double miss() const;  ///< by how much the worst row of the working set is missed by w_ and b_
  void newton_step(double floor, double accuracy, Run& run);
  void set_weights();

  const Problem& problem_;
  double row_scale_, end_scale_, r_;
  std::vector<std::int64_t> rows_;
  KeptRows kept_;  // the same
  std::unordered_set<std::int64_t> known_;
  Eigen::VectorXd lower_, upper_, alpha_, u_, w_;
  double b_ = 0;
  bool contradictory_ = false;
};

}  // namespace margin
