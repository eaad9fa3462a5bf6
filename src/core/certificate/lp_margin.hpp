// The certificate of hard margins in other norms than l2: for 1 ≤ p < 2 and 1/p + 1/r = 1,
//
//   min_i m_i(w) / ‖w‖_p  ≤  max margin  ≤  ‖Σ q_i z_i‖_r / Σ q_i        for any w ≠ 0 and any q ≥ 0,
//
// with a free intercept: half the distance of the hulls' points, measured by ‖·‖_r, as in certificate/l2_margin.hpp.
// More than two classes are told apart one against the rest, each with an interval of its own. (Telgarsky 2013, Section
// 2; Raj & Bach 2021, Section 3.)
#pragma once

#include "core/base/progress.hpp"
#include "core/certificate/certificate.hpp"
#include "core/certificate/check.hpp"

namespace margin {

/// O(outputs × d) memory.
class NormCheck final : public Check {
 public:
  /// `weights` (outputs × d) and `intercept` (null: none) are kept by pointer. `norm` is p.
  NormCheck(std::int32_t classes, std::int32_t dimensions, double norm, const double* weights, const double* intercept,
            bool free_intercept, bool with_dual);

  /// One row of sorted class `label`; `q` has one dual weight per output, null for none.
  void add(const Row& x, std::int32_t label, const double* q);
  void add(const CheckedRow& row) override { add(row.x, row.label, row.dual); }
  void widen(std::int32_t dimensions, const double* weights) override;
  /// (rows, errors, radius, smallest score per output)
  std::vector<double> state() const override;
  bool merge(const std::vector<double>& state) override;
  std::string reductions() const override;
  void measure(const CheckedRow& row, double* numbers, double* coefficients) override;
  std::unique_ptr<Check> part() const override;
  double part_size() const override { return static_cast<double>(sums_.size()); }
  void add_part(Check& part) override;
  Certificate certificate(const Progress& progress) const override;

  std::int64_t rows() const { return rows_; }
  std::int64_t support() const { return support_; }
  std::int64_t errors() const { return errors_; }  ///< rows on the wrong side of an output
  double radius() const;                           ///< max_i ‖x_i‖₂, rounded up
  std::int32_t outputs() const { return outputs_; }
  /// The interval of one output. No margin exceeds the radius: the upper bound that needs no dual weights.
  double lower(std::int32_t output) const;
  double upper(std::int32_t output) const;
  /// The smallest of the outputs' lower bounds, and of their upper bounds: the interval of the smallest margin.
  double lower() const;
  double upper() const;
  /// The largest of the outputs' (upper − lower)/upper.
  double relative_gap() const;

 private:
  bool belongs(std::int32_t label, std::int32_t output) const { return outputs_ == 1 ? label == 1 : label == output; }
  double margin_of(const Row& x, std::int32_t label, std::int32_t output) const;
  const double* weights_of(std::int32_t output) const {
    return weights_ + static_cast<std::ptrdiff_t>(output) * dimensions_;
  }

  std::int32_t dimensions_, outputs_;
  double norm_;
  const double* weights_;
  const double* intercept_;
  bool free_intercept_, with_dual_;
  std::int64_t rows_ = 0, support_ = 0, errors_ = 0;
  double radius_ = 0;
  std::vector<double> smallest_;  // per output: min_i y_i score_i
  Weights sums_;                  // two rows per output: Σ q x of the rest, and of the class
  std::vector<double> mass_;      // two per output, and the rows that gave them
  std::vector<std::int64_t> terms_;
};

}  // namespace margin
