// The certificate at lambda 0: how far the mean loss of a model is above the least possible one, where nothing but the
// rows bounds the weights. It needs no dual weights, and knows no solver.
//
// The objective is P(w, b) = (1/W) Σ_i c_i φ(<x_i, w> + b; y_i) for a loss with |φ'''| ≤ κ φ'': squared (κ = 0),
// logistic and poisson (κ = 1). With z = (x, 1), gradient g = (1/W) Σ c φ' z, Hessian H = (1/W) Σ c φ'' z zᵀ,
// ν² = gᵀH⁻¹g and R = κ max_i ‖z_i‖ in the norm of H⁻¹:
//
// an offset, whose weight is known, being no part of z;
//
//   if νR < 1, P has a minimum, and P − P* ≤ (νR + (1 − νR) ln(1 − νR)) / R²     (½ν² for R = 0).
//
// Proof. Along a direction v with vᵀHv = 1 let q(t) = P at t v from the model. |<z_i, v>| ≤ ‖z_i‖ in the norm of H⁻¹, so
// |q'''| ≤ R q'', whence q''(t) ≥ q''(0) e^(−Rt) = e^(−Rt) for t ≥ 0; and q'(0) = <g, v> ≥ −ν. Integrating twice,
// q(t) ≥ q(0) − νt + (e^(−Rt) + Rt − 1)/R². For νR < 1 the right side is least at e^(−Rt) = 1 − νR and grows without
// bound beyond: every sublevel set is bounded, so a minimum exists, and the least value is the bound. This is the
// argument of Bach (2010), Electronic Journal of Statistics 4, Proposition 1, with the constants kept. The bound is
// ν² h(νR) with h(s) = Σ_{k≥2} s^(k−2)/(k(k−1)): between ½ and 1, and at most ½ + s/6 + s²/6 for s ≤ ½.
#pragma once

#include "core/certificate/likelihood_rows.hpp"
#include "core/certificate/risk.hpp"
#include "core/data/gram_block.hpp"
#include "core/data/shifted_rows.hpp"
#include "core/math/symmetric_matrix.hpp"

namespace margin {

/// One output. O(d²) memory.
class LikelihoodCheck final : public Check {
 public:
  /// `weights` and `intercept` (null: 0) are kept by pointer.
  LikelihoodCheck(const Objective& objective, const double* weights, const double* intercept);

  void add(const CheckedRow& row) override;
  /// Rows of features that the model does not have: no bound but 0 is known of them.
  void widen(std::int32_t dimensions, const double* weights) override;
  std::vector<double> state() const override;
  bool merge(const std::vector<double>& state) override;
  /// Of the mean loss alone, as RiskCheck: sums of squares are too long for a term of one row.
  std::string reductions() const override { return risk_.reductions(); }
  void measure(const CheckedRow& row, double* numbers, double* coefficients) override {
    risk_.measure(row, numbers, coefficients);
  }
  /// All rows by what a scan adds up of them, in place of add(): the numbers of RiskCheck and of LikelihoodRows, Σ c φ' z and
  /// Σ c φ'' z zᵀ, of which none went through more than `additions` of sums of blocks. Of a single column nothing is known then
  /// but that no row is longer than the longest. False where they are not of this shape.
  bool take(const std::vector<double>& risk, const std::vector<double>& rows, std::vector<double> gradient,
            SymmetricMatrix hessian, double additions);
  /// `lower` is 0, which bounds every loss, where the bound above does not hold.
  Certificate certificate(const Progress& progress) const override;
  double bytes() const override { return 3 * SymmetricMatrix::bytes(columns_); }

 private:
  struct Bound;
  void add_sums(const CheckedRow& row, const LikelihoodRow& measured);
  void flush() const;
  void leave_out(std::size_t j) const;
  double gap_bound(const Progress& progress) const;

  Objective objective_;
  RiskCheck risk_;
  LikelihoodRows measure_;
  std::size_t columns_;
  ShiftedRows shifted_;
  mutable GramBlock packed_;
  mutable SymmetricMatrix gram_;          // Σ c φ'' z zᵀ
  mutable std::vector<double> gradient_;  // Σ c φ' z, of complete blocks
  mutable std::vector<double> block_;
  mutable std::int64_t block_rows_ = 0;
  mutable std::vector<double> largest_;  // max_i |z_ij|
  mutable std::vector<double> moved_;    // what merging sums of other origins added, by columns
  std::int64_t sums_ = 0;                // bounds how many roundings a sum has
  double slope_error_ = 0;               // Σ c |error of φ'|
  double slope_mass_ = 0;                // Σ c |φ'|
  double score_error_ = 0;               // the largest of a score
  bool within_ = true;                   // all rows are of the model's features
  bool wrong_ = false, right_ = false;   // rows against, and for, a separation or recession
};

}  // namespace margin
