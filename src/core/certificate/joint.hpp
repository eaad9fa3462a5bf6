// The certificate of classes that are trained jointly (option multiclass => 'joint'): primal value, dual value and their
// gap, for any vectors, moved outward by a bound on the rounding of this very computation. It knows no solver.
//
//   P(w, b) = (1/W) Σ_i c_i φ(s_i; y_i) + (λ/2) (‖w‖² + ‖b‖²/B²), s_i = (<x_i, w_c> + b_c)_c, φ of loss/joint.hpp
//   D(p)    = (1/W) Σ_i c_i g(p_i; y_i) − (λ/2) (‖V‖² + ‖V_b‖²)   for any p_i in the simplex of the classes
//   V_c     = (1/λW) Σ_i c_i a_ic x_i,  V_bc = (B/λW) Σ_i c_i a_ic,  a_ic = 1[y_i = c] − p_ic
// W, c and B as in certificate/risk.hpp. A free intercept has neither penalty nor V_b, and Σ_i c_i a_ic = 0 for every c.
//
// Such a balance is made, not found: p_ic may be scaled by a factor 1 − θ_yc for all rows of class y (what it loses goes
// to p_iy). Let F_yc = Σ c_i p_ic over the rows of class y ≠ c: then Σ_i c_i a_ic is what flows out of c less what flows
// into it, and the θ turn F into a circulation. Parts of the classes that no flow returns from are cut off (θ = 1); the
// rest is routed along the flows (certificate/balanced_flows.hpp). What that takes is bounded, not computed again: with
// F, E_yc = Σ c_i (−p_ic ln p_ic) and M_yc = Σ c_i p_ic ‖x_i‖, the mean of g falls by at most Σ θ (E + F) for the
// logistic loss (−q ln q ≥ (1 − θ)(−p ln p) for q = (1 − θ)p, and −q ln q has a slope of −1 or more in q ≤ 1), by Σ θ F for
// the hinge, and ‖V‖ moves by at most √2 Σ θ M / λW.
//
// Rounding. ‖V‖ errs by what its sums do: those of short rows by ulps of Σ c|a|‖x‖, of long ones, as a column of large numbers
// makes them, by columns: e_j ≤ ulps of Σ c|a||x_j| ≤ √(Σ c a²) √(Σ c x_j²), the same of what balancing takes, √2 Σ θ √F √(Σ c x_j²).
// Then ‖V + e‖² ≤ Σ_j (|V_j| + e_j)², in which the V_j of such a column is tiny. A long row's scores err by ulps of Σ |w_j||x_j|.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/certificate/check.hpp"
#include "core/loss/joint.hpp"
#include "core/math/exact_sum.hpp"

namespace margin {

/// O(classes × d) memory, and classes² with a free intercept.
class JointCheck final : public Check {
 public:
  /// `weights` (classes × d) and `intercept` (per class; null: zeros) are kept by pointer. A row's dual weights are its
  /// a_i; of the logistic loss those of the row's scores stand for it where it brings none.
  JointCheck(const Objective& objective, const double* weights, const double* intercept, bool with_dual);

  void add(const CheckedRow& row) override;
  void widen(std::int32_t dimensions, const double* weights) override;
  /// With the sums of the dual weights, where they are not too many for a message and all rows are of the model's
  /// features; a check that merges a state without them has no dual value.
  std::vector<double> state() const override;
  bool merge(const std::vector<double>& state) override;
  /// Of the primal value alone.
  std::string reductions() const override;
  void measure(const CheckedRow& row, double* numbers, double* coefficients) override;

  /// What scans add up: the numbers of reductions(), Σ c (1 − p_y), and Σ c a of each class, for the p of the row's own scores, which
  /// of the hinge is a class that attains them. Σ c a x, classes × d, and the flows of a free intercept come besides.
  std::string scan_reductions() const { return "++>++++++++++" + std::string(1 + classes_, '+'); }
  /// A row's part of that, and the coefficients of its x, as measure() gives them; `flow(at, number)` is called for every number of
  /// the flows, `at` below flow_numbers(classes).
  template <class Flow>
  void measure_scan(const CheckedRow& row, double* numbers, double* coefficients, Flow&& flow);
  static std::int64_t flow_numbers(std::int64_t classes) { return 3 * classes * classes; }
  /// Merges what the rows of a scan added up to. `sums` was summed in `blocks` blocks of at most `longest` rows. False, and nothing is
  /// changed, when it is not of this shape.
  bool merge_scan(const std::vector<double>& numbers, const Weights& sums,
                  const std::vector<std::pair<std::int64_t, double>>& flows, std::int64_t longest, std::int64_t blocks);
  /// After merge_scan(): a row of it has these dual weights (its a_i) in place of those of its scores. Of the hinge, whose p are vertices,
  /// for rows whose scores tell theirs beyond rounding.
  void replace_dual(const CheckedRow& row, const double* after);
  /// Σ c g(p), the dual value's first sum.
  double dual_sum() const { return dual_value_.value(); }
  /// Of the row that was measured last: its scores, and what JointLoss::settled() says of them where it counts.
  const std::vector<double>& scores() const { return scores_; }
  double settled() const { return settled_; }
  Certificate certificate(const Progress& progress) const override;
  std::shared_ptr<const DualPoint> dual_point(const Progress& progress) const override;
  double bytes() const override { return 0; }

  double primal() const;                             ///< rounded up; +∞ when it overflows
  double dual(const Progress& progress = {}) const;  ///< rounded down; at least 0, which bounds every loss

 private:
  /// How far Σ c a (x, B)/W of short rows is from what its rounded sums say.
  double moved(double reach) const;
  /// e_j of the header by √(Σ c x_j²).
  double long_share(double flow) const;
  double long_root(Eigen::Index j) const;
  double depth() const;
  double entropy(double p) const {
    return loss_.form() == JointLoss::Form::multinomial && p > 0 ? -p * std::log(p) : 0.0;
  }
  /// Σ c|a| (‖x‖ + B) of all classes.
  double row_mass(const CheckedRow& row, double norm) const {
    return 2 * row.loss_weight * others_ * (norm + objective_.constant_feature());
  }
  bool is_long(double norm) const { return norm > longest_short_; }
  void take_long(const CheckedRow& row, double norm);

  static constexpr std::size_t head = 6, own = 7;  // numbers of state(): common ones, of the loss and of the dual value
  static constexpr std::size_t largest_state = std::size_t{1} << 20;
  static constexpr double short_row = 0x1p18;  // of √lambda
  struct Balanced;

  void take(const double* numbers);
  bool own_dual(const CheckedRow& row);
  bool measure_dual(const CheckedRow& row, double norm, double* numbers);
  bool take_dual(const CheckedRow& row, double norm, double* numbers);
  void take_flow(std::int64_t at, double v);
  void replace_part(const CheckedRow& row, double sign);
  template <class Flow>
  void measure_flows(const CheckedRow& row, double norm, Flow&& flow) const;
  std::size_t pairs() const { return objective_.free_intercept ? 3 * classes_ * classes_ : 0; }
  void flush() const;
  bool tells_sums() const;
  Balanced balanced(const Progress& progress) const;

  Objective objective_;
  const JointLoss& loss_;
  const double* weights_;
  const double* intercept_;
  bool with_dual_, widened_ = false, lost_ = false;  // lost_: sums of some rows are not known
  std::size_t classes_;
  std::int64_t rows_ = 0, errors_ = 0, support_ = 0;
  double radius_ = 0, norm_;  // of all weights
  ExactSum total_weight_, error_weight_;
  ExactSum value_, dual_value_;                   // Σ c φ, Σ c g(p)
  double value_error_ = 0, vanished_ = 0;         // bound on its rounding, and on what underflowed of it
  double dual_size_ = 0, mass_ = 0, unseen_ = 0;  // of the errors of Σ c g(p), Σ c Σ|a| (‖x‖ + B), both underflows
  ExactSum moved_;                                // Σ c (1 − p_y)
  std::vector<double> numbers_, scores_, p_, coefficients_;
  double others_ = 0, settled_ = 0;      // Σ p of the last row's other classes
  std::vector<ExactSum> balance_;        // Σ c a, per class
  std::vector<ExactSum> flow_;           // F, classes × classes; of free intercepts
  std::vector<double> entropy_, reach_;  // E and M of the same, M of short rows
  // Of long rows: Σ c x_j², empty without one, and Σ c a² of all classes.
  std::vector<double> squares_;
  double long_squares_ = 0, longest_short_;
  // Σ c a x in blocks, as in RiskCheck.
  mutable Weights total_, block_;
  mutable std::int64_t block_rows_ = 0, longest_block_ = 0, blocks_ = 0;
};

/// F, E and M of the header for the pair of the row's class and each other one.
template <class Flow>
void JointCheck::measure_flows(const CheckedRow& row, double norm, Flow&& flow) const {
  const auto y = static_cast<std::size_t>(row.label);
  const double c = row.loss_weight;
  for (std::size_t o = 0; o < classes_; ++o) {
    const double p = p_[o];
    if (p == 0) continue;
    const auto at = static_cast<std::int64_t>(3 * (y * classes_ + o));
    flow(at, c * p);
    flow(at + 1, c * entropy(p));
    flow(at + 2, c * p * norm);
  }
}

template <class Flow>
void JointCheck::measure_scan(const CheckedRow& row, double* numbers, double* coefficients, Flow&& flow) {
  measure(row, numbers, coefficients);
  double* const balance = numbers + head + own + 1;
  std::fill_n(balance - 1, 1 + classes_, 0.0);
  const double norm = numbers[2];
  if (!(row.loss_weight > 0)) return;
  settled_ = loss_.settled(scores_.data(), objective_.classes, row.label, p_.data());
  if (!measure_dual(row, norm, numbers)) return;
  // Of scans there are no sums of long rows by columns.
  numbers[11] = row_mass(row, norm);
  balance[-1] = row.loss_weight * others_;
  for (std::size_t o = 0; o < classes_; ++o) coefficients[o] = balance[o] = coefficients_[o];
  if (objective_.free_intercept) measure_flows(row, norm, flow);
}

}  // namespace margin
