// The certificate of interpolation, from vectors and rows alone:
//
//   min ½‖w‖_p²  such that  lower_i ≤ <x_i, w> + b ≤ upper_i  for all rows.
//
// For any α (with a free intercept Σα = 0) and any w that meets its rows, h(α) = Σ α_i⁺ lower_i − α_i⁻ upper_i is at
// most <Σ α_i x_i, w> ≤ ‖Σ α_i x_i‖_r ‖w‖_p, so ‖w‖_p ≥ h/‖Σ α_i x_i‖_r: the dual value ½(h/‖…‖)² with the best
// multiple of α. Where that bound has no limit the rows contradict each other. (Raj & Bach 2021, Equations 3 and 4, 1/p
// + 1/r = 1.)
#pragma once

#include "core/base/progress.hpp"
#include "core/certificate/certificate.hpp"
#include "core/certificate/check.hpp"

namespace margin {

/// O(d) memory.
class InterpolationCheck final : public Check {
 public:
  /// `weights` is kept by pointer, `norm` is p > 1.
  InterpolationCheck(std::int32_t dimensions, double norm, const double* weights, double intercept, bool free_intercept,
                     bool with_dual);
  /// One row with its interval (ends may be infinite) and its dual value.
  void add(const Row& x, double lower, double upper, double alpha);
  void add(const CheckedRow& row) override {
    add(row.x, row.target, row.upper_target, row.dual != nullptr ? *row.dual : 0.0);
  }
  void widen(std::int32_t dimensions, const double* weights) override;
  /// (rows, outside, slack, radius, scale)
  std::vector<double> state() const override;
  bool merge(const std::vector<double>& state) override;
  std::string reductions() const override { return "++<>>"; }
  void measure(const CheckedRow& row, double* numbers, double* coefficients) override;
  Certificate certificate(const Progress& progress) const override;

  std::int64_t rows() const { return rows_; }
  std::int64_t outside() const { return outside_; }  ///< rows that are missed by more than rounding
  std::int64_t support() const { return support_; }
  double radius() const { return radius_; }
  double scale() const { return scale_; }  ///< the largest finite |end|
  /// How far inside of its interval the worst row is; negative: how far it is missed, rounded down.
  double slack() const { return slack_; }
  double primal() const;  ///< ½‖w‖_p², rounded up
  /// What ‖w‖_p at least is for any w that meets the rows, rounded down; 0 without a useful α.
  double least_norm() const;

 private:
  void take(const double* numbers);

  std::int32_t dimensions_;
  double norm_;
  const double* weights_;
  double intercept_, size_;
  bool free_intercept_, with_dual_;
  std::int64_t rows_ = 0, outside_ = 0, support_ = 0;
  double radius_ = 0, scale_ = 0, slack_ = std::numeric_limits<double>::infinity();
  // Of the rows pushed up ([1], α > 0) and down ([0]): Σ|α| x, Σ|α|, Σ|α| end, Σ|α||end|.
  Weights sums_;
  double mass_[2] = {0, 0}, height_[2] = {0, 0}, absolute_[2] = {0, 0};
};

}  // namespace margin
