// The quadratic program of a kernel machine on a working set of rows whose kernel matrix is at hand:
//
//   max over β   Σ t_p β_p − ½ βᵀKβ    with low_p ≤ β_p ≤ high_p, and Σ β_p = constant where the intercept is free.
//
// β is the signed dual weight; the variables outside of the working set keep theirs and show only in the errors
// e_p = t_p − Σ_q K_pq β_q. Two methods take turns. Sequential minimal optimisation moves the pair of rows (without an
// intercept: the row) that promises the largest gain to second order, which finds the rows that matter quickly and
// their weights slowly. Newton's method then solves for all rows between their bounds at once, and walks towards that
// solution until a weight meets its bound; the row is held there and the solution corrected, until nothing is in the
// way.
//
// R.-E. Fan, P.-H. Chen, C.-J. Lin, Working set selection using second order information for training SVM, JMLR 6
// (2005); K. Scheinberg, An efficient implementation of an active set method for SVMs, JMLR 7 (2006).
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/math/symmetric_matrix.hpp"
#include "core/solvers/run.hpp"

namespace margin {

class SmoWorkingSet {
 public:
  /// `least`: curvatures below it count as rounding. `most`: rows that it will hold, and Newton's method take at once.
  SmoWorkingSet(bool intercept, double least, std::size_t most, Run& run)
      : intercept_(intercept), least_(least), most_(most), run_(run) {}

  /// A variable of the whole problem; a row may have two.
  struct Member {
    std::int64_t variable, row;
    double low, high, weight, error;
  };

  std::size_t size() const { return rows_.size(); }
  std::int64_t variable(std::size_t p) const { return variables_[p]; }
  std::int64_t row(std::size_t p) const { return rows_[p]; }
  double weight(std::size_t p) const { return weight_[p]; }
  double error(std::size_t p) const { return error_[p]; }
  void set_error(std::size_t p, double error) { error_[p] = error; }
  bool free(std::size_t p) const { return weight_[p] > low_[p] && weight_[p] < high_[p]; }

  /// Adds a row; its kernel values are filled in by set_column.
  void add(const Member& member);
  /// `column`: kernel values of member p with all rows of the data set. When the columns of all members from `first` on
  /// are set, share_columns gives their values to the members before.
  void set_column(std::size_t p, const double* column);
  void share_columns(std::size_t first);
  /// Keeps only these members, given in ascending order.
  void keep(const std::vector<std::size_t>& members);

  /// Until no pair violates the conditions of optimality by more than `tolerance`, or rounding or `give_up` ends it.
  /// `give_up()` is asked now and then.
  template <class GiveUp>
  void solve(double tolerance, GiveUp give_up) {
    double before = std::numeric_limits<double>::infinity();
    for (int turn = 0; turn < 200; ++turn) {
      if (descend(tolerance, turn == 0 ? 1000 + 2 * size() : 200 + size() / 2) || give_up()) return;
      newton();
      const double left = violation();
      if (left <= tolerance) return;
      // Neither method gains any more: what is left is rounding.
      if (turn > 20 && turn % 10 == 0) {
        if (left > 0.9 * before) return;
        before = left;
      }
    }
  }
  /// How far the worst pair of members is from optimal.
  double violation() const;

 private:
  const double* column(std::size_t p) const { return kernel_.data() + p * stride_; }
  double* column(std::size_t p) { return kernel_.data() + p * stride_; }
  void set_weight(std::size_t p, double weight);
  /// True when the tolerance is met within so many steps.
  bool descend(double tolerance, std::size_t steps);
  bool descend_pairs(double tolerance, std::size_t steps);
  bool descend_singles(double tolerance, std::size_t steps);
  void newton();
  /// Factors the kernel matrix of some members; false where it is singular.
  bool factor_free(const std::vector<std::size_t>& members);
  /// How far along d from `moved` all members stay within their bounds, at most 1, and which one blocks (none: size).
  std::pair<double, std::size_t> longest_step(const std::vector<std::size_t>& members, const Eigen::VectorXd& d,
                                              const Eigen::VectorXd& moved) const;
  /// Weights and errors after a step; those held end at the bound that is nearer.
  void move_by(const std::vector<std::size_t>& members, const Eigen::VectorXd& moved,
               const std::vector<std::size_t>& held);
  void reserve(std::size_t members);

  bool intercept_;
  double least_;
  std::size_t most_;
  Run& run_;
  std::vector<std::int64_t> variables_, rows_;
  std::vector<double> low_, high_, weight_, error_, diagonal_;
  std::vector<double> up_, down_;  // 0 where the weight may rise (fall), else ∓∞: masks of the errors
  std::vector<double> gain_;
  SymmetricMatrix factor_{0};
  LargeArray kernel_;  // one column of stride_ per member
  std::size_t stride_ = 0;
};

}  // namespace margin
