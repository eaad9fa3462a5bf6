// What a row says of the likelihood of a model besides its sums: roundings, and on which side of a separation it is.
// LikelihoodCheck adds that up over rows in memory, a scan over all others.
#pragma once

#include <vector>

#include "core/certificate/check.hpp"

namespace margin {

/// What a row adds.
struct LikelihoodRow {
  double slope = 0, curvature = 0;  ///< φ', φ''
  double slope_error = 0;           ///< c times a bound on the error of φ'
  double score_error = 0;           ///< a bound on that of the score
  int side = 0;                     ///< 1: its loss falls along the weights for ever; −1: it rises; 0: it stays
};

/// Of one output, for a loss with |φ'''| ≤ κ φ''.
class LikelihoodRows {
 public:
  /// `weights` and `intercept` (null: 0) are kept by pointer.
  LikelihoodRows(const Objective& objective, const double* weights, const double* intercept);

  /// Of a row with the score u and the outcome y.
  LikelihoodRow measure(const CheckedRow& row, double u, double y) const;
  /// The same as numbers that scans reduce (Check::reductions()): Σ slope_error, Σ c |φ'|, the largest score_error, 1 where a
  /// side is −1, 1 where one is 1, the largest |u|.
  static constexpr const char* reductions = "++>>>>";
  static constexpr std::size_t count = 6;
  void measure(const CheckedRow& row, double u, double y, double* numbers) const;

 private:
  /// The weights as a direction that scores may grow along for ever: without the offset's, which is known.
  const double* direction() const { return direction_.empty() ? weights_ : direction_.data(); }
  int side_of(const CheckedRow& row, double along, double error) const;

  Objective objective_;
  const double* weights_;
  const double* intercept_;
  std::vector<double> direction_;  // empty: the weights
  double weight_norm_;
};

}  // namespace margin
