// The certificate of a regularised risk (soft margin): primal value, dual value and their gap, for any pair of vectors,
// with a bound on the rounding of this very computation added outward. It knows no solver.
//
// The objective, for one output (several outputs, one against the rest, add up):
//   P(w, b) = (1/W) Σ_i c_i φ(<x_i, w> + b; y_i) + λ ( (1−ρ)/2 (‖w‖² + (b/B)²) + ρ ‖w‖₁ )
// W = Σ row weights, c_i = row weight × class weight, ρ = l1_ratio, B = intercept_scale. The intercept is the weight of
// a constant feature of value B: it is regularised by the squared norm (LIBLINEAR's -B), never by ‖·‖₁. So a row of
// weight 2 is the same as the row given twice. The dual, for any a with every a_i in the domain of φ*(−·) (a per unit
// of weight, see loss/loss.hpp):
//   D(a) = (1/W) Σ_i c_i (−φ*(−a_i; y_i)) − ( ‖soft(v, λρ)‖² + v_b² ) / (2λ(1−ρ)),
//   v = (1/W) Σ c_i a_i x_i,  v_b = (B/W) Σ c_i a_i,  soft(v, κ)_j = sign(v_j) max(0, |v_j| − κ);
// with ρ = 0 this is −(λ/2)‖w(a)‖², w(a) = v/λ: Shalev-Shwartz & Zhang (2013), equation (2).
#pragma once

#include "core/base/progress.hpp"
#include "core/certificate/certificate.hpp"
#include "core/loss/loss.hpp"

namespace margin {

/// What an objective is made of besides rows; `loss` is kept by pointer.
struct RiskObjective {
  const Loss* loss = nullptr;
  double lambda = 0, l1_ratio = 0;
  double intercept_scale = 0;  ///< B; 0: no intercept
  Task task = Task::binary;
  std::int32_t outputs = 1, dimensions = 0;
};
RiskObjective objective_of(const Problem& problem);

/// A sum that carries its own rounding error (Neumaier): exact to a few ulps of Σ|terms|·n·ε².
class ExactSum {
 public:
  void add(double v) {
    const double t = sum_ + v;
    lost_ += (sum_ < 0 ? -sum_ : sum_) >= (v < 0 ? -v : v) ? (sum_ - t) + v : (v - t) + sum_;
    sum_ = t;
  }
  void add(const ExactSum& o) {
    add(o.sum_);
    lost_ += o.lost_;
  }
  double value() const { return sum_ + lost_; }

 private:
  double sum_ = 0, lost_ = 0;
};

/// The check, row by row: O(outputs × d) memory, mergeable, so that the same code certifies a training and verifies a
/// stored model in one scan of a table.
class RiskCheck {
 public:
  /// `weights` (outputs × d) and `intercept` (per output; null: zeros) are kept by reference.
  RiskCheck(const RiskObjective& objective, const double* weights, const double* intercept, bool with_dual);

  /// One row. `outcome`: the sorted class index, or the target of a regression. `row_weight` counts in W, `c` weighs
  /// the loss (c ≥ 0). `a`: one signed dual value per output, or null; values outside the domain of φ*(−·) are moved to
  /// its nearest end first (the dual value is then that of the moved vector), a NaN counts as 0.
  void add(const Row& x, double outcome, double row_weight, double c, const double* a);
  void merge(const RiskCheck& other);
  /// There are `dimensions` columns now, and outputs × `dimensions` weights (0 for the new ones), kept by reference.
  void widen(std::int32_t dimensions, const double* weights);

  std::int64_t rows() const { return rows_; }
  std::int64_t errors() const { return errors_; }  ///< rows of another class than predicted (0 for a regression)
  double failure() const;                          ///< Certificate::failure
  std::int64_t support() const { return support_; }
  double radius() const { return radius_; }  ///< largest ‖x_i‖, without the constant feature
  double total_weight() const { return total_weight_.value(); }

  /// P of one output, rounded up; +∞ when it overflows.
  double primal(std::int32_t output) const;
  /// The larger of D(a) of one output, rounded down, and D(0) = 0, which bounds P* as every loss is ≥ 0.
  double dual(std::int32_t output) const;
  double primal() const;  ///< summed over the outputs
  double dual() const;

  /// The primal part as plain numbers, for the exchange between parallel workers (4 + 2 × outputs of them).
  std::vector<double> state() const;
  void merge(const std::vector<double>& state);

 private:
  struct Output {
    ExactSum loss, conjugate;   // Σ c φ(u), Σ c (−φ*(−a))
    double loss_error = 0;      // bound on the rounding of Σ c φ(u)
    double conjugate_size = 0;  // Σ c (|φ*| + |a y|)
    double mass = 0;            // Σ c |a| (‖x‖ + B)
    // What products that underflowed may have taken, in units of the smallest number: of Σ c φ(u), and of the sums of
    // the dual value.
    double vanished = 0, unseen = 0;
    ExactSum intercept;  // Σ c a
  };
  void flush();

  RiskObjective objective_;
  const double* weights_;
  const double* intercept_;
  bool with_dual_;
  std::int64_t rows_ = 0, errors_ = 0, support_ = 0;
  double radius_ = 0, error_weight_ = 0;
  ExactSum total_weight_;
  std::vector<double> norms_, scores_;  // of each output's weights; of the current row
  std::vector<Output> outputs_;
  // Σ c a x in blocks: a sum of n terms in one go would lose n ulps, blocks of m lose m + n/m.
  Weights total_, block_;
  std::int64_t block_rows_ = 0, longest_block_ = 0, blocks_ = 0;
  double block_work_ = 0;
};

/// What follows from a gap: strong convexity keeps the optimum (w*, b*) near.
struct RiskBounds {
  double distance = 0;            ///< ≥ the Frobenius norm of (w − w*, (b − b*)/B): √(2·gap/(λ(1−ρ)))
  std::int64_t certain_rows = 0;  ///< rows whose predicted class is certainly the one the optimum predicts
};

/// √(2·gap/(λ(1−ρ))), rounded up: the objective is λ(1−ρ)-strongly convex.
double distance_bound(double gap, double lambda, double l1_ratio);

/// Which rows keep their predicted class under any move of the weights as far as the optimum can be.
class CertainPredictions {
 public:
  /// `reach`: per output, ≥ the norm of (w_o − w*_o, (b_o − b*_o)/B). `weights` and `intercept` (null: zeros) are kept
  /// by reference; of the objective only outputs, dimensions and intercept_scale matter.
  CertainPredictions(const RiskObjective& objective, const double* weights, const double* intercept,
                     std::vector<double> reach);
  /// `distance`: one bound for all outputs together, RiskBounds::distance.
  CertainPredictions(const RiskObjective& objective, const double* weights, const double* intercept, double distance);

  /// Whether every model within reach predicts for x what this one does: |score| > reach·‖(x, B)‖, or the lead over
  /// each other class above the sum of both reaches times that, rounding included.
  bool operator()(const Row& x);
  /// There are `dimensions` columns now, and outputs × `dimensions` weights (0 for the new ones), kept by reference.
  void widen(std::int32_t dimensions, const double* weights);

 private:
  RiskObjective objective_;
  const double* weights_;
  const double* intercept_;
  std::vector<double> reach_, scores_;
  double largest_ = 0;  // norm of an output's weights
};

/// Certify from the returned vectors, with passes over the rows of its own. `dual`: rows × outputs, signed and per unit
/// of weight (loss/loss.hpp); without rows: the dual value is 0. `bounds`, when asked for, costs one more pass.
Certificate certify_risk(const Problem& problem, const Weights& weights, const Eigen::VectorXd& intercept,
                         const Weights& dual, RiskBounds* bounds = nullptr, const Progress& progress = {});

}  // namespace margin
