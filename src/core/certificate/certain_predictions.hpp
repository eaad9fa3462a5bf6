// What follows from the gap of a linear soft margin (certificate/risk.hpp): strong convexity keeps the optimum (w*, b*)
// near, so that rows far enough from the boundary are predicted by the optimum as by the model.
#pragma once

#include "core/certificate/check.hpp"

namespace margin {

/// ≥ the Frobenius norm of (w − w*, (b − b*)/B): √(2·gap/(λ(1−ρ))), rounded up, as the objective is λ(1−ρ)-strongly
/// convex; +∞ with ρ = 1. `lambda`: times the smallest penalty factor, where that is below 1.
double distance_bound(double gap, double lambda, double l1_ratio);

/// Which rows keep their predicted class under any move of the weights as far as the optimum can be.
class CertainPredictions {
 public:
  /// `reach`: per output, ≥ the norm of (w_o − w*_o, (b_o − b*_o)/B). `weights` and `intercept` (null: zeros) are kept
  /// by pointer; of the objective only the outputs, dimensions and constant feature matter.
  CertainPredictions(const Objective& objective, const double* weights, const double* intercept,
                     std::vector<double> reach);
  /// `distance`: one bound for all outputs together, as distance_bound() gives.
  CertainPredictions(const Objective& objective, const double* weights, const double* intercept, double distance);

  /// Whether every model within reach predicts for x what this one does: |score| > reach·‖(x, B)‖, or the lead over
  /// each other class above the sum of both reaches times that, rounding included.
  bool operator()(const Row& x);
  /// There are `dimensions` columns now, and outputs × `dimensions` weights (0 for the new ones), kept by pointer.
  void widen(std::int32_t dimensions, const double* weights);

 private:
  Objective objective_;
  const double* weights_;
  const double* intercept_;
  std::vector<double> reach_, scores_;
  double largest_ = 0;  // norm of an output's weights
};

}  // namespace margin
