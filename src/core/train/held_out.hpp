// What cross-validation measures on the rows of a fold, of a model and of the best constant.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/metrics/metrics.hpp"
#include "core/train/folds.hpp"
#include "core/train/path.hpp"

namespace margin {

/// A metric of a model; nothing where it is not defined on its rows. `quantile`: that of pinball.
std::optional<double> metric_value(const WeightedMetrics& metrics, Metric metric);
std::optional<double> metric_value(const RegressionMetrics& metrics, Metric metric, double quantile);

/// What a metric is when every row of a fold gets the same answer; rows or weights by class, of the fold and of the training.
std::optional<double> constant_value(Metric metric, const std::vector<double>& inside,
                                     const std::vector<double>& outside);

/// The metric of one model over rows that it has not seen, by their weights.
class HeldOut {
 public:
  /// `rank`: the classes' positions in the model's order. Both references are kept. `settings`: how the models were trained;
  /// the scores of more than two classes may be those of a joint one, pinball is that of its quantile.
  HeldOut(const Dataset& data, const std::vector<std::int32_t>& rank, Metric metric, const Options& settings);

  /// Row i, with one score per output; of a regression the prediction.
  void add(std::int64_t i, const double* scores);
  /// Nothing where the metric is not defined on these rows.
  std::optional<double> value() const;

 private:
  const Dataset& data_;
  const std::vector<std::int32_t>& rank_;
  Metric metric_;
  std::optional<WeightedMetrics> classes_;
  double quantile_;
  RegressionMetrics numbers_;
  std::vector<double> odds_;
};

/// The metric on the rows of fold f of the best constant prediction for those that train for it; of a regression beside the
/// settings' offset, of which the mean of counts is a multiple on the scale of their logarithm (settings.loss).
std::optional<double> constant_score(const Dataset& data, Metric metric, const Options& settings, const FoldRows& rows,
                                     std::int32_t f, const Progress& progress);

}  // namespace margin
