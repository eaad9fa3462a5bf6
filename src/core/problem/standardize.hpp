// Option `standardize`: train on x' = (x − mean) / deviation, return weights for x.
#pragma once

#include <vector>

#include "core/base/progress.hpp"
#include "core/problem/problem.hpp"

namespace margin {

/// Column means (zeros where columns are not centred) and deviations (1 for constant columns), weighted by row weights.
struct Standardization {
  std::vector<double> mean, deviation;
};

/// Rows that came as dense arrays are centred when there is an intercept to take up the shift; sparse rows and
/// problems without intercept are only scaled.
Standardization measure(const Dataset& data, bool intercept, const Progress& progress);

/// A standardised copy of the rows, with the same labels and weights.
Dataset standardized(const Dataset& data, const Standardization& s, const Progress& progress);

/// Weights for x' -> weights for x: w_j / deviation_j, and the intercept takes −Σ w_j mean_j / deviation_j.
void to_user_units(const Standardization& s, Weights& weights, Eigen::VectorXd& intercept);

/// The other way, for a model to start from. A model of another number of features is left as it is: who reads it
/// refuses it.
void to_standard_units(const Standardization& s, InitialModel& model);

}  // namespace margin
