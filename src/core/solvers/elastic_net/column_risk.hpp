// One output of a soft margin at one point, by columns: scores, losses, the dual vector and what it sums the columns to.
// For weights that are mostly 0: scores cost the columns of the others, and only the sums cost all of them. The solver's own:
// no certificate reads it (certificate/column_check.hpp).
//
// With r = l1_ratio, f the penalty factors and B the constant feature of a penalised intercept (certificate/risk.hpp):
//   P = (1/W) Σ c φ(u_i) + λ Σ f_j (r |w_j| + (1−r)/2 w_j²) + λ (1−r)/2 (b/B)²
//   D = (1/W) Σ c (−φ*(−t a_i)) − Σ_j max(0, |t v_j| − λ r f_j)² / (2 λ (1−r) f_j),   v = (1/W) Σ c a x,  a = −φ'(u).
// The weight of an offset is known and in no penalty: D has −w_j t v_j of it in place of its square.
// With r = 1 the last term is a constraint, |t v_j| ≤ λ f_j, and t scales a down until it is met. Of weights between bounds the last
// term is Σ_j box_term(t v_j) (math/box_term.hpp), and with r = 1 only a side without an end has the constraint.
#pragma once

#include <vector>

#include "core/base/progress.hpp"
#include "core/data/columns.hpp"
#include "core/loss/loss.hpp"
#include "core/problem/problem.hpp"
#include "core/solvers/elastic_net/column_sums.hpp"

namespace margin {

class ColumnRisk {
 public:
  /// Of a smooth loss. `problem` and its rows by columns are kept by reference.
  ColumnRisk(const Problem& problem, const Columns& columns, const Progress& progress);
  /// With those of the columns.
  static double bytes(const Problem& problem);

  /// The targets of another output; there is no point until move().
  void select(std::int32_t output);
  /// Scores, losses and dual weights at weights w (a number per feature) and intercept b.
  void move(const std::vector<double>& w, double b);
  /// The same where only these features, ascending, have weights, besides an offset.
  void move(const std::vector<std::size_t>& features, const std::vector<double>& weights, double b);
  /// The same at another intercept: b + t.
  void shift(double t);
  /// The derivative of the mean loss in the intercept at b + t, the sizes of its terms, its slope.
  struct Slope {
    double value = 0, size = 0, curvature = 0;
  };
  Slope slope_at(double t);
  /// v of the point.
  void combine() { sums_.all(coefficient_); }
  /// The same of features that have weights; others follow where they are asked for (near()).
  void combine_some();
  /// The features, ascending, of which |v_j| ≥ share · l1(lambda, j), and maybe others: v_j is known.
  const std::vector<std::size_t>& near(double lambda, double share) {
    return sums_.at_least(share * lambda * problem_.l1_ratio);
  }

  /// P and D at the point, for this lambda; without bounds on their rounding. `scale`: t of the better dual vector.
  struct Interval {
    double primal = 0, dual = 0, scale = 1;
  };
  Interval interval(double lambda);
  double primal(double lambda) const;
  /// Σ c (−φ*(−t a)) at the point, and the sizes of its terms.
  struct Conjugate {
    double value = 0, size = 0;
  };
  Conjugate conjugate(double scale);

  const Problem& problem() const { return problem_; }
  const Columns& columns() const { return columns_; }
  const Progress& progress() const { return progress_; }
  std::size_t rows() const { return u_.size(); }
  std::size_t features() const { return w_.size(); }
  /// The value of the intercept's column: 1 where it is free, 0 without one.
  double constant() const { return constant_; }
  double l1(double lambda, std::size_t j) const { return lambda * problem_.l1_ratio * factor(j); }
  double l2(double lambda, std::size_t j) const { return lambda * (1 - problem_.l1_ratio) * factor(j); }
  /// Of the weight of the intercept's column.
  double l2_of_constant(double lambda) const { return problem_.free_intercept ? 0 : lambda * (1 - problem_.l1_ratio); }
  double factor(std::size_t j) const { return problem_.factor(j); }
  /// The part of v_j that pulls the weight away from 0 where its bounds let it go.
  double moving(std::size_t j, double v) const {
    return problem_.bounds.empty() ? std::fabs(v)
           : v > 0                 ? (problem_.bounds.most(j) > 0 ? v : 0.0)
                                   : (problem_.bounds.least(j) < 0 ? -v : 0.0);
  }
  /// The weights nearest to 0.
  std::vector<double> nothing() const { return problem_.least_weights(w_.size()); }
  /// Whether the weight of feature j is penalised: an offset's is known.
  bool penalizes(std::size_t j) const { return static_cast<std::int32_t>(j) != problem_.offset; }
  /// What the offset takes from the dual value of the point's dual vector; 0 without one.
  double held() const {
    return problem_.offset < 0 ? 0 : problem_.offset_weight() * sums()[static_cast<std::size_t>(problem_.offset)];
  }

  const std::vector<double>& w() const { return w_; }
  const std::vector<std::size_t>& support() const { return support_; }  ///< features of weights other than 0, ascending
  double b() const { return b_; }
  const std::vector<double>& scores() const { return u_; }
  const std::vector<double>& y() const { return y_; }
  const std::vector<double>& cost() const { return cost_; }                                ///< c
  const std::vector<double>& slopes() const { return slope_; }                             ///< φ'(u) = −a
  const std::vector<double>& coefficients() const { return coefficient_; }                 ///< c a
  const std::vector<double>& sums() const { return sums_.values(); }                       ///< v, after combine()
  double sum_of_constant() const { return constant_ * balance_ / problem_.total_weight; }  ///< v of the intercept
  double loss() const { return loss_; }                                                    ///< (1/W) Σ c φ(u)
  double balance() const { return balance_; }                                              ///< Σ c a
  double size() const { return size_; }                                                    ///< Σ c |a|
  /// At least |b| and every number that was added to make it: what the rounding of scores goes by.
  double reach() const { return reach_; }
  /// Of what the penalty holds: where a feature counts as near leaving 0.
  static constexpr double near_bound = 0.98;
  /// Sums over rows are made in chunks of so many.
  static constexpr std::size_t chunk = 1024;
  double imbalance() const { return size_ > 0 ? std::abs(balance_) / size_ : 0; }  ///< of Σ c |a|
  /// c φ''(u)/W of all rows, at least `floor` of the largest that the loss can have.
  void curvatures(double floor, std::vector<double>& out) const;

 private:
  void score();
  void losses();
  Interval between_bounds(double lambda);

  const Problem& problem_;
  const Progress& progress_;
  const Columns& columns_;
  double constant_;
  std::vector<double> cost_, y_;
  std::vector<double> w_, u_, slope_, coefficient_;
  std::vector<std::size_t> support_;
  ColumnSums sums_;
  double b_ = 0, loss_ = 0, balance_ = 0, size_ = 0;
  double reach_ = 0;         // how large b was on the way
  double known_scale_ = -1;  // what conjugate() was asked last, and said
  Conjugate known_conjugate_;
};

}  // namespace margin
