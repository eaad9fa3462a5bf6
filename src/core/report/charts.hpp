// The charts of margin_plot, margin_roc, margin_reliability and margin_histogram. A row with a weight counts as so many rows.
#pragma once

#include <string>
#include <vector>

#include "core/metrics/metrics.hpp"
#include "core/report/inspect.hpp"
#include "core/report/plot.hpp"

namespace margin {

/// The interval after every iteration, and below it its relative width with the tolerance that was asked for; `options`
/// are those that the model was trained with. Throws Error(unsupported) without a history.
Plot history_plot(const Model& model, const Options& options);

/// True against false positives of a model of two classes; `classes` are their names. Throws Error(unsupported) for
/// more classes, Error(invalid_value) when the rows are all of one class.
template <class Count>
Plot roc_plot(const CountingMetrics<Count>& metrics, const std::vector<std::string>& classes);

/// Predicted probabilities against observed shares, and how many rows were predicted so. Throws Error(unsupported)
/// for a model without probabilities.
template <class Count>
Plot reliability_plot(const CountingMetrics<Count>& metrics, const std::vector<std::string>& classes);

/// How the margins of the rows are distributed, for two classes each.
template <class Count>
Plot histogram_plot(const CountingMetrics<Count>& metrics, const std::vector<std::string>& classes);

}  // namespace margin
