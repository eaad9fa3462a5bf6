// The figures of a model as SQL values: margin_verification, margin_evaluation; and the charts of the latter.
#pragma once

#include "core/metrics/metrics.hpp"
#include "core/metrics/threshold.hpp"
#include "core/model/verification.hpp"
#include "core/report/plot.hpp"
#include "pg/server/boundary.hpp"

namespace margin::pg {

/// The margin_verification that the running function returns.
Datum verification_datum(FunctionCallInfo fcinfo, const VerifiedModel& found, std::int64_t skipped);

/// The margin_evaluation that the running function returns, of one row or more; `weighted`: whose rows have weights.
template <class Count>
Datum evaluation_datum(FunctionCallInfo fcinfo, const Model& model, const CountingMetrics<Count>& metrics,
                       std::int64_t skipped, bool weighted);
Datum evaluation_datum(FunctionCallInfo fcinfo, const Model& model, const RegressionMetrics& metrics,
                       std::int64_t skipped);

/// Throws Error(unsupported) unless the model has two classes.
void require_two_classes(const Model& model);
/// The margin_operating_point that the running function returns: the threshold of such rows that serves the goal best; nothing
/// without rows, or where none does.
std::optional<Datum> threshold_datum(FunctionCallInfo fcinfo, const WeightedMetrics& metrics, const ThresholdGoal& goal,
                                     std::int64_t skipped);

/// A chart of metrics (report/charts.hpp).
using Chart = Plot (*)(const WeightedMetrics&, const std::vector<std::string>&);
/// Throws Error(unsupported) for a regression; `function` draws.
void require_classes(const Model& model, const char* function);

}  // namespace margin::pg
