// The certificate of hard margins in the Euclidean norm (docs/reference/certificates.md): for any w ≠ 0, any q ≥ 0,
//
//   min_i m_i(w) / ‖w‖  ≤  max margin  ≤  ‖Σ q_i z_i‖ / Σ q_i,
//
// z_i = y_i x_i, of several classes (e_y − e_c) ⊗ x_i;
// with a free intercept: half the distance of two points of the classes' hulls, or q whose sums balance per class.
#pragma once

#include "core/certificate/check.hpp"

namespace margin {

/// O(classes × d) memory.
class MarginCheck final : public Check {
 public:
  /// `weights` and `intercept` (per output; null: none) are kept by pointer. `free_intercept`: the upper bound is that
  /// of the problem with an intercept.
  MarginCheck(std::int32_t classes, std::int32_t dimensions, const double* weights, const double* intercept,
              bool free_intercept, bool with_dual);

  /// One row of sorted class `label`; `q` is its dual weight (binary) or `classes` of them, null for none.
  void add(const Row& x, std::int32_t label, const double* q);
  void add(const CheckedRow& row) override { add(row.x, row.label, row.dual); }
  void widen(std::int32_t dimensions, const double* weights) override;
  /// (rows, errors, smallest margin, radius)
  std::vector<double> state() const override;
  bool merge(const std::vector<double>& state) override;
  std::string reductions() const override { return "++<>"; }
  void measure(const CheckedRow& row, double* numbers, double* coefficients) override;
  std::unique_ptr<Check> part() const override;
  double part_size() const override { return static_cast<double>(sums_.size()); }
  void add_part(Check& part) override;
  /// Its upper bound is that of the dual weights alone: upper().
  Certificate certificate(const Progress& progress) const override;

  std::int64_t rows() const { return rows_; }
  std::int64_t support() const { return support_; }
  /// max_i ‖x_i‖, rounded up.
  double radius() const { return radius_ * (1 + std::numeric_limits<double>::epsilon() * (dimensions_ + 4.0)); }
  std::int64_t errors() const { return errors_; }      ///< rows with a margin ≤ 0
  double smallest_score() const { return smallest_; }  ///< min_i (s_y − max_{c≠y} s_c), not divided by ‖w‖
  /// min_i margin_i / ‖weights‖, rounded down (any weights ≠ 0; −∞ for no rows, 0 for zero weights).
  double lower() const;
  /// ‖Σ q z‖ / Σ q, rounded up; +∞ when no dual weights were given or they do not satisfy the constraint of a free
  /// intercept (Σ q (e_y − e_c) = 0) to rounding.
  double upper() const;

 private:
  double margin_of(const Row& x, std::int32_t label);

  std::int32_t classes_, dimensions_, outputs_;
  const double* weights_;
  const double* intercept_;
  bool free_intercept_, with_dual_;
  std::int64_t rows_ = 0, support_ = 0, errors_ = 0;
  double smallest_, radius_ = 0;
  std::vector<double> scores_;
  // Binary: one sum and one mass per class. Multiclass: one sum and one imbalance per class, one mass.
  Weights sums_;
  std::vector<double> mass_, balance_;
};

}  // namespace margin
