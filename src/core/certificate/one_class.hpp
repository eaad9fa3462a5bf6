// One-class machines that are linear in the features (problem/one_class.hpp): the primal value and, from the dual
// weights, the dual one.
//
//   P = ½‖w‖² + b + (1/νW) Σ c_i max(0, −w·x_i − b),
//   D = −½‖v‖² − |1 − Σ c_i a_i/W| R²,   v = (1/W) Σ c_i a_i x_i,  0 ≤ a_i ≤ 1/ν, R the largest ‖x_i‖.
//
// An optimal w is such a v whose a add up to W, so its b = −w·x of some row is at most R²: that is what the last term
// charges where they do not. Dual weights that add up to more are scaled down. Without any, D = −½R².
// Kernel machines: certificate/kernel.hpp.
#pragma once

#include "core/certificate/check.hpp"
#include "core/math/exact_sum.hpp"

namespace margin {

class OneClassCheck final : public Check {
 public:
  /// `weights` (as many as the objective's dimensions) and `intercept` (one; null: 0) are kept by pointer.
  OneClassCheck(const Objective& objective, const double* weights, const double* intercept, bool with_dual);

  void add(const CheckedRow& row) override;
  void widen(std::int32_t dimensions, const double* weights) override;
  std::vector<double> state() const override;
  bool merge(const std::vector<double>& state) override;
  std::string reductions() const override { return with_dual_ ? "" : "++>+++"; }
  void measure(const CheckedRow& row, double* numbers, double* coefficients) override;
  Certificate certificate(const Progress& progress) const override;

 private:
  void take(const double* numbers);
  double primal() const;
  double dual() const;

  Objective objective_;
  const double* weights_;
  const double* intercept_;
  bool with_dual_;
  double norm_;  // ‖w‖
  std::int64_t rows_ = 0, support_ = 0;
  double outside_ = 0, radius_ = 0, loss_error_ = 0;  // outside_: rows with a score that is not above 0
  ExactSum total_weight_, loss_;                      // W, Σ c φ
  ExactSum dual_weight_;                              // Σ c a
  double mass_ = 0;                                   // Σ c a ‖x‖
  // Σ c a x in blocks: a sum of n terms in one go would lose n ulps, blocks of m lose m + n/m.
  Weights total_, block_;
  std::int64_t block_rows_ = 0, blocks_ = 0;
};

}  // namespace margin
