// Option `standardize`: train on x' = (x − mean) / deviation, return weights for x.
#pragma once

#include <optional>
#include <vector>

#include "core/base/memory_limit.hpp"
#include "core/base/progress.hpp"
#include "core/problem/problem.hpp"

namespace margin {

/// Column means (zeros where columns are not centred) and deviations (1 for constant columns), weighted by row weights.
struct Standardization {
  std::vector<double> mean, deviation;
};

/// One row after another in such units.
class RowUnits {
 public:
  RowUnits() = default;
  RowUnits(std::vector<double> mean, std::vector<double> deviation);
  bool empty() const { return deviation_.empty(); }
  /// Dense where columns are centred, as x_j = 0 is no 0 then. Its numbers are in `values`.
  FeatureRow row(const FeatureRow& x, std::vector<double>& values) const;

 private:
  std::vector<double> mean_, deviation_, zero_;
  bool centred_ = false;
};

/// Rows that came as dense arrays are centred when there is an intercept to take up the shift; sparse rows and
/// problems without intercept are only scaled.
/// Column `offset` (−1: none) stays as it is.
Standardization measure(const Dataset& data, bool intercept, const Progress& progress, std::int32_t offset = -1);

/// Weights for x' -> weights for x: w_j / deviation_j, and the intercept takes −Σ w_j mean_j / deviation_j.
void to_user_units(const Standardization& s, Weights& weights, Eigen::VectorXd& intercept);

/// The other way, for a model to start from. A model of another number of features is left as it is: who reads it
/// refuses it.
void to_standard_units(const Standardization& s, InitialModel& model);

/// Bounds of weights, listed one per column, and constraints by number, for such weights; what a bound costs per unit of a weight for x.
void to_standard_units(const Standardization& s, Options& options);
void prices_to_user_units(const Standardization& s, std::optional<Weights>& prices);

/// The rows of a training in the units of the option `standardize`: a copy with the same labels and weights, or without
/// the option the rows as they are.
class StandardizedRows {
 public:
  /// `memory` counts the copy; where it does not allow one, the copy's features go to the store of the rows, and
  /// without a store Error(limit_exceeded) is thrown.
  StandardizedRows(const Dataset& data, const Options& options, const Progress& progress, MemoryBudget& memory);
  StandardizedRows(const StandardizedRows&) = delete;
  StandardizedRows& operator=(const StandardizedRows&) = delete;

  /// Whether memory allows the copy of these rows.
  static bool fits(const Dataset& data, const MemoryBudget& memory);
  const Dataset& rows() const { return copy_.has_value() ? *copy_ : data_; }
  /// Of rows(); only with the option.
  const Standardization& units() const { return *units_; }
  /// A model to start from, in the units of rows().
  void take(InitialModel& model) const {
    if (units_.has_value()) to_standard_units(*units_, model);
  }
  /// Bounds and constraints, in the units of rows().
  void take(Options& options) const {
    if (units_.has_value()) to_standard_units(*units_, options);
  }
  /// A model of rows(), as one of the rows that were given.
  void give_back(Weights& weights, Eigen::VectorXd& intercept) const {
    if (units_.has_value()) to_user_units(*units_, weights, intercept);
  }
  void give_back_prices(std::optional<Weights>& prices) const {
    if (units_.has_value()) prices_to_user_units(*units_, prices);
  }

 private:
  const Dataset& data_;
  std::optional<Standardization> units_;
  std::optional<Dataset> copy_;
};

}  // namespace margin
