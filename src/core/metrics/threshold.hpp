// A threshold of the scores of two classes, chosen for a purpose from rows with labels.
#pragma once

#include <optional>
#include <vector>

#include "core/metrics/metrics.hpp"
#include "core/options/options.hpp"

namespace margin {

/// What a threshold is to be good for; exactly one of these.
struct ThresholdGoal {
  enum class Kind { precision, recall, costs, accuracy, balanced_accuracy, f1, mcc };
  Kind kind = Kind::accuracy;
  double least = 0;                              ///< precision or recall that must be reached
  double true_negative = 0, false_positive = 0;  ///< costs of a row
  double false_negative = 0, true_positive = 0;
};

/// From {"precision": p}, {"recall": r}, {"costs": {"false_positive": …, "false_negative": …}} or {"maximize": name}.
/// Throws Error(invalid_option).
ThresholdGoal parse_threshold(const Value::Object& options);

/// Rows whose score is at least `threshold` are called the second class; counts are rows, or their weights.
struct OperatingPoint {
  double threshold = 0;
  double true_negatives = 0, false_positives = 0, false_negatives = 0, true_positives = 0;

  double total() const { return true_negatives + false_positives + false_negatives + true_positives; }
  /// Nothing where no row is called the second class, or (recall) none is of it.
  std::optional<double> precision() const;
  std::optional<double> recall() const;
  double f1() const;
  double accuracy() const;
  /// Matthews' correlation; 0 where all rows are called one class.
  double mcc() const;
  /// Mean of the recalls of both classes.
  double balanced_accuracy() const;
};

/// The best of the thresholds of `rows`, both classes present: with a goal of precision that of the largest recall, with
/// one of recall that of the largest precision, else the best figure or the least mean cost. Of equal ones that closest to
/// 0, the model's own. Nothing where no threshold reaches the precision.
std::optional<OperatingPoint> choose_threshold(const WeightedMetrics& rows, const ThresholdGoal& goal);

/// Mean cost of a row at a point.
double mean_cost(const OperatingPoint& at, const ThresholdGoal& goal);

}  // namespace margin
