// The certificate of a regularised risk (soft margin): primal value, dual value and their gap, for any pair of vectors,
// with a bound on the rounding of this very computation added outward. It knows no solver.
//
// The objective, for one output (several outputs, one against the rest, add up):
//   P(w, b) = (1/W) Σ_i c_i φ(<x_i, w> + b; y_i) + λ ( (1−ρ)/2 (Σ_j f_j w_j² + (b/B)²) + ρ Σ_j f_j |w_j| )
// W = Σ row weights, c_i = row weight × class weight, ρ = l1_ratio, B = intercept_scale. The intercept is the weight of
// a constant feature of value B: it is regularised by the squared norm (LIBLINEAR's -B), never by ‖·‖₁. So a row of
// weight 2 is the same as the row given twice. A free intercept has no penalty, and a no value but where Σ c a = 0
// (below). The dual, for any a with every a_i in the domain of φ*(−·) (a per unit
// of weight, see loss/loss.hpp):
//   D(a) = (1/W) Σ_i c_i (−φ*(−a_i; y_i)) − ( ‖soft(v, λρ)‖² + v_b² ) / (2λ(1−ρ)),
//   v = (1/W) Σ c_i a_i x_i,  v_b = (B/W) Σ c_i a_i,  soft(v, κ)_j = sign(v_j) max(0, |v_j| − κ);
// without v_b where the intercept is free. Then a must have Σ c a = 0: as the domains contain 0, where φ* is 0, the
// side of a that outweighs the other can be scaled down to it. Solvers hand in a that is balanced up to rounding, so
// what little that takes is bounded instead of computed: with a share δ of the heavier side, at most δ of Σ c|φ*| and of
// Σ c|a|‖x‖.
// The weight of an offset is known, and in no penalty: what v has of it is subtracted from D as it is, times that weight.
// f_j, the penalty factors, are 1 unless given: feature j has λ f_j in place of λ in every term. With ρ = 1, the lasso, the second
// term is the constraint |v_j| ≤ λ f_j, and the intercept is free. Solvers hand in a that meets it up to rounding; what is
// left is scaled away, which costs at most that share of D(a), as φ*(0) = 0.
// Of weights between bounds, l ≤ w ≤ u (P is +∞ outside), the second term is + Σ_j T_j(v_j), the least that penalty and −v_j w
// come to between them (math/box_term.hpp): bounds need no multipliers. Each T_j is concave with the slope −w_j at v_j, w the
// point of its minimum, so that a v that errs by e costs at most ‖w‖‖e‖ + ‖e‖²/(2 λ(1−ρ) min f). With ρ = 1 T_j has no end on a
// side without one, where |v_j| ≤ λ f_j is asked for as above, and costs |e_j| max(|l_j|, |u_j|) on the others.
// Under constraints l ≤ A w ≤ u (P is +∞ where they are missed by more than met_constraint of their size) any ν, above 0 where it is
// that of an upper end and below 0 where it is that of a lower one, takes v − Aᵀν the place of v and Σ_k ν_k u_k or ν_k l_k off D, as
// <ν, A w> is at most that; ν comes with the objective (Constraints::multipliers). v then errs by another (terms + 4) ε Σ_k |ν_k|‖A_k‖.
// A one-class machine (problem/one_class.hpp) has b besides: then Σ c a must be W, see one_class_dual().
// With ρ = 0 the second term is −(λ/2)‖w(a)‖², w(a) = v/λ: Shalev-Shwartz & Zhang (2013), equation (2).
//
// Rounding. If the computed v errs by e_j in column j, the second term errs by (Σ_j |v_j| e_j + ‖e‖²/2)/(λ(1−ρ)) at most.
// (1) Most rows are short: e_j of their part is at most m ε Σ c|a||x_j|/W, m the terms of a blocked sum, and ‖e‖ at most the
//     same of ‖x‖. With the larger ‖v‖‖e‖ in place of Σ |v_j| e_j this loses about m ε ‖x‖ √(2P/λ)
//     of D, which is nothing as long as ‖x‖ is no multiple of √λ/(m ε): such rows are those up to `short_row` √λ.
// (2) A column of large numbers (a time in milliseconds is 2e12) makes long rows. There v_j = λ w_j is tiny, so that the
//     products |v_j| e_j are, where ‖v‖‖e‖ is not; but ‖e‖² is not either. So the sums of long rows are made of twofold
//     numbers (certificate/twofold_sums.hpp), products included: e_j is ε|v_j| of the column's own sum, by columns,
//     and n ε² Σ c|a|‖x‖/W.
// (3) A free intercept takes the share s/Σ⁺ from the heavier side, s = Σ c a. Of short rows it is bounded by that share
//     of Σ c|a|‖x‖; the sums of long ones are kept apart by the sign of a, so that it is carried out. s itself is known to n ε²
//     of Σ c|a| where the products c a of all rows are (long rows, and those of weight 1), else to ε of it.
// (4) The score of a long row errs by its terms times ε Σ |w_j||x_j|, that of a short one by the same of ‖w‖‖x‖.
// (5) Rows of a piecewise linear loss that have the same dual value: φ*(−a; y) is affine in y for any a, so that Σ c φ*(−a; y)
//     is Σ c times φ* at the mean target, but for 8 ε Σ c |a y|; Σ c a x is a times a sum of rows, whose rounding is that of (1).
// (6) Rows as codes: a score adds up look-ups in running sums of weights, where no weight goes through more additions than
//     CodeLayout::depth says: that stands for the number of terms in (4). v is the sum of a block's cells, in turn sums over their rows;
//     a cell without a row adds 0, so that no term goes through more additions than the block has rows, and (1) holds as it is.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/base/progress.hpp"
#include "core/certificate/ball.hpp"
#include "core/certificate/certificate.hpp"
#include "core/certificate/check.hpp"
#include "core/certificate/twofold_sums.hpp"
#include "core/loss/points.hpp"
#include "core/math/exact_sum.hpp"
#include "core/math/rounding.hpp"

namespace margin {

/// O(outputs × d) memory.
class RiskCheck final : public Check {
 public:
  /// `weights` (outputs × d) and `intercept` (per output; null: zeros) are kept by pointer.
  RiskCheck(const Objective& objective, const double* weights, const double* intercept, bool with_dual);

  /// Values of a dual weight outside the domain of φ*(−·) are moved to its nearest end first (the dual value is then
  /// that of the moved vector), a NaN counts as 0.
  void add(const CheckedRow& row) override;
  void add_all(const CheckedRow* rows, std::size_t count) override;
  void add_coded(const CodedRows& codes, std::int64_t begin, CheckedRow* rows, std::size_t count) override;
  void widen(std::int32_t dimensions, const double* weights) override;
  /// (rows, errors, radius, W, weight of the errors, support; per output the numbers of Output), the support and what
  /// else belongs to the dual weights 0.
  std::vector<double> state() const override;
  bool merge(const std::vector<double>& state) override;
  std::string reductions() const override;
  void measure(const CheckedRow& row, double* numbers, double* coefficients) override {
    score(row.x, scores_.data());
    measure(row, margin::norm(row.x), scores_.data(), nullptr, numbers, coefficients);
  }
  /// <x, w> + b per output.
  void score(const Row& x, double* scores) const;
  /// measure() of a row of which is known: its norm, its scores, and per output what the loss is there (null: not known),
  /// whose dual value it gets. That is one for any weights.
  void measure(const CheckedRow& row, double norm, const double* scores, const LossPoint* points, double* numbers,
               double* coefficients) const;
  std::unique_ptr<Check> part() const override;
  double part_size() const override { return 2 * static_cast<double>(total_.size()); }
  void add_part(Check& part) override;
  /// merge() of numbers as measure() gives them, added up, with their dual part: `sums` is Σ c a x, outputs × d, that
  /// was summed in `blocks` blocks of at most `longest` rows. The check was made with dual weights.
  bool merge(const std::vector<double>& numbers, const Weights& sums, std::int64_t longest, std::int64_t blocks);
  /// A row that was added with the dual value `before` in this output has `after` instead.
  void replace_dual(const CheckedRow& row, std::int32_t output, double before, double after);
  /// The same of short rows of equal dual value, of which only sums are known, see (5): `mean` has Σ c x/Σ c, Σ c y/Σ c,
  /// and Σ c as its weight, the sums made with those of merge().
  struct Alike {
    double rows = 1;         ///< how many
    double length = 0;       ///< Σ c ‖x‖/Σ c
    double target_size = 0;  ///< Σ c |y|/Σ c
  };
  void replace_duals(const CheckedRow& mean, const Alike& alike, std::int32_t output, double before, double after);
  void constrain(Constraints constraints) override { objective_.constraints = std::move(constraints); }
  /// The multipliers of the constraints that prove most with the rows' dual weights so far, in place of what the objective
  /// came with; those stay where features are penalised by different factors.
  void find_multipliers(const Progress& progress);
  /// Σ c a x/W of one output; zeros where the dual weights prove nothing.
  Eigen::VectorXd image(std::int32_t output) const;
  Certificate certificate(const Progress& progress) const override;
  /// None with an l1_ratio of 1.
  std::shared_ptr<const DualPoint> dual_point(const Progress& progress) const override;
  /// The same of one output, with an l1_ratio below 1, for any weights and intercept of the same problem, of which P is at most
  /// `upper`.
  OutputPoint output_point(std::int32_t output, const double* weights, double intercept, double upper) const;

  /// Before any row: all of them count as long, see (2).
  void sum_precisely() { longest_short_ = 0; }
  /// Whether the rounding of sums of short rows takes half of the gap, so that a pass that sums them precisely pays. Not of a gap
  /// below `nothing` relative to P.
  bool blurred(double nothing = 1e-10) const;
  /// Of the row that was measured last by itself: <x, w> + b per output.
  const std::vector<double>& scores() const { return scores_; }
  /// Its norm, of one that was added by itself.
  double norm() const { return numbers_[2]; }

  std::int64_t rows() const { return rows_; }
  std::int64_t errors() const { return errors_; }  ///< rows of another class than predicted (0 for a regression)
  double failure() const;                          ///< Certificate::failure
  std::int64_t support() const { return support_; }
  double radius() const { return radius_; }  ///< largest ‖x_i‖, without the constant feature
  double total_weight() const { return total_weight_.value(); }

  /// P of one output, rounded up; +∞ when it overflows.
  double primal(std::int32_t output) const;
  /// The larger of D(a) of one output, rounded down, and D(0) = 0, which bounds P* as every loss is ≥ 0; of a one-class
  /// machine the larger of D(a) and −R²/(2λ).
  double dual(std::int32_t output) const;
  /// The mean loss of the first output, rounded down: P without its penalty.
  double least_primal() const;
  double primal() const;  ///< summed over the outputs
  double dual() const;

 private:
  static constexpr std::size_t head = 6, per_output = 9;  // numbers of state()
  static constexpr double short_row = 0x1p18;
  struct Output {
    ExactSum loss, conjugate;   // Σ c φ(u), Σ c (−φ*(−a))
    double loss_error = 0;      // bound on the rounding of Σ c φ(u)
    double conjugate_size = 0;  // Σ c (|φ*| + |a y|)
    double mass = 0;            // Σ c |a| (‖x‖ + B)
    // What products that underflowed may have taken, in units of the smallest number: of Σ c φ(u), and of the sums of
    // the dual value.
    double vanished = 0, unseen = 0;
    ExactSum intercept;  // Σ c a
    ExactSum absolute;   // Σ c |a|

    void add(const double* numbers);  // those of one row, or of a merged state
    void write(double* numbers) const;
    void add(const Output& part);
  };
  struct DualPart;
  bool is_long(double norm) const { return norm > longest_short_; }
  void take_long(const Row& x, std::int32_t output, double norm, double loss_weight, double a, double sign);
  void add_long(const CheckedRow& row, double norm, const double* scores);
  template <class L>
  DualPart dual_part(const L& loss, const CheckedRow& row, double norm, double a, double y) const;
  template <class L>
  static DualPart dual_part(const L& loss, const CheckedRow& row, double length, double dual, double conjugate,
                            double y);
  template <class L>
  void measure_output(const L& loss, const CheckedRow& row, double norm, std::int32_t o, double u,
                      const LossPoint* point, double* out) const;
  template <class L>
  void measure_as(const CheckedRow& row, double norm, std::int32_t o, double u, const LossPoint* point,
                  double* out) const;
  using MeasureOutput = void (RiskCheck::*)(const CheckedRow&, double, std::int32_t, double, const LossPoint*,
                                            double*) const;
  static MeasureOutput measure_of(const Loss& loss);
  void replace_sums(Output& sum, const DualPart& old, const DualPart& now);
  static void write_row(const CheckedRow& row, double norm, bool wrong, bool supports, double* numbers);
  std::vector<double> without_dual(std::vector<double> state) const;
  bool sound(const std::vector<double>& state) const;
  void take(const double* numbers);
  void take_row(const double* numbers);  // those of no output
  void take_sums(const Row& x, const double* coefficients);
  void add_scored(const CheckedRow* rows, std::size_t n, const double* norms, const double* scores,
                  double* coefficients);
  void flush();
  /// Σ c a (x, B)/W of one output, signed, with its error; `excess` is the share that a free intercept takes from a.
  struct DualSum {
    Eigen::VectorXd v;
    double of_intercept = 0, moved = 0, excess = 0;
    double of_offset = 0;  ///< taken out of v
    double of_ends = 0;    ///< ≥ Σ ν_k u_k or ν_k l_k, what constraints take off D
  };
  bool pull(std::int32_t output, DualSum& sum) const;
  bool row_sum(std::int32_t output, DualSum& sum) const;       // before multipliers and the balance of a free intercept
  bool dual_sum(std::int32_t output, DualSum& sum) const;      // false: it proves nothing
  double dual(std::int32_t output, const DualSum* sum) const;  // dual(output), of what dual_sum() says; null: false
  void add_long_sums(std::int32_t output, DualSum& sum) const;
  double dual_penalty(Eigen::VectorXd v, double of_intercept, double moved) const;
  double held(const Eigen::VectorXd& v, double moved) const;
  /// μ and κ of the penalty of weight j, rounded down.
  double square_part(std::int32_t j) const {
    return objective_.lambda * (1 - objective_.l1_ratio) * objective_.factor(static_cast<std::size_t>(j)) *
           (1 - 4 * epsilon);
  }
  double absolute_part(std::int32_t j) const {
    return objective_.lambda * objective_.l1_ratio * objective_.factor(static_cast<std::size_t>(j)) * (1 - 4 * epsilon);
  }
  double dual_between(double least, const DualSum& sum) const;
  double with_boundary(double value, std::int32_t output) const;
  double one_class_dual(std::int32_t output) const;
  double moved_by(const DualSum& sum, double share) const;

  Objective objective_;
  MeasureOutput measure_;  // compiled for its loss
  const double* weights_;
  const double* intercept_;
  bool with_dual_;
  std::int64_t rows_ = 0, errors_ = 0, support_ = 0;
  double radius_ = 0;
  ExactSum total_weight_, error_weight_;
  std::vector<double> norms_, scores_;          // of each output's weights; of the current row
  std::vector<double> numbers_, coefficients_;  // of the current row
  std::vector<Output> outputs_;
  // Σ c a x in blocks: a sum of n terms in one go would lose n ulps, blocks of m lose m + n/m.
  Weights total_, block_;
  std::int64_t block_rows_ = 0, longest_block_ = 0, blocks_ = 0;
  double block_work_ = 0;
  // The same of long rows, and Σ c|a|(‖x‖ + B) of them, an output after the other; empty without one.
  double longest_short_;
  TwofoldSums long_;
  std::vector<double> long_mass_;
  struct Coded;
  std::shared_ptr<Coded> coded_;  // what products with rows as codes need, null before the first
  bool unit_weights_ = true;      // of short rows: c a is a double
};

}  // namespace margin
