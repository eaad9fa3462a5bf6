#include "pg/values/figures_datum.hpp"

#include "pg/values/composite.hpp"

namespace margin::pg {

Datum verification_datum(FunctionCallInfo fcinfo, const VerifiedModel& found, std::int64_t skipped) {
  CompositeBuilder out(fcinfo);
  const auto set = [&](const char* attribute, const std::optional<double>& value) {
    if (value.has_value()) out.set_float8(attribute, *value);
  };
  out.set_int8("rows", found.rows);
  out.set_int8("skipped", skipped);
  if (found.errors.has_value()) out.set_int8("errors", *found.errors);
  set("margin_lower", found.margin_lower);
  set("margin_upper", found.margin_upper);
  set("primal", found.primal);
  set("dual", found.dual);
  set("gap", found.gap);
  if (found.certain.has_value()) out.set_int8("certain", *found.certain);
  return out.finish();
}

template <class Count>
Datum evaluation_datum(FunctionCallInfo fcinfo, const Model& model, const CountingMetrics<Count>& metrics,
                       std::int64_t skipped, bool weighted) {
  const std::size_t k = model.classes.size();
  CompositeBuilder out(fcinfo);
  out.set_int8("rows", metrics.rows());
  out.set_int8("skipped", skipped);
  out.set_float8("accuracy", metrics.accuracy());
  out.set("classes", TEXTARRAYOID, text_array(model.classes));
  out.set_float8("weight", static_cast<double>(metrics.weight()));
  const std::vector<Count>& cells = metrics.confusion();
  if (weighted) {
    const std::vector<double> weights(cells.begin(), cells.end());
    out.set("weighted_confusion", FLOAT8ARRAYOID, float8_matrix(weights.data(), k, k));
  } else {
    const std::vector<std::int64_t> counts(cells.begin(), cells.end());
    out.set("confusion", INT8ARRAYOID, bigint_matrix(counts.data(), k, k));
  }
  out.set("precision", FLOAT8ARRAYOID, float8_array(metrics.precision()));
  out.set("recall", FLOAT8ARRAYOID, float8_array(metrics.recall()));
  out.set("f1", FLOAT8ARRAYOID, float8_array(metrics.f1()));
  const std::vector<double> quantiles = metrics.margin_quantiles({0, 0.05, 0.25, 0.5, 0.75, 0.95, 1});
  out.set("margin_quantiles", FLOAT8ARRAYOID, float8_array(quantiles.data(), quantiles.size()));
  out.set_float8("auc", metrics.auc());
  out.set_float8("log_loss", metrics.log_loss());
  out.set_float8("average_precision", metrics.average_precision());
  out.set_float8("mcc", metrics.matthews());
  out.set_float8("brier", metrics.brier());
  const std::vector<double> ranks = metrics.top_k();
  if (!ranks.empty()) out.set("top_k", FLOAT8ARRAYOID, float8_array(ranks.data(), ranks.size()));
  return out.finish();
}
template Datum evaluation_datum(FunctionCallInfo, const Model&, const ClassificationMetrics&, std::int64_t, bool);
template Datum evaluation_datum(FunctionCallInfo, const Model&, const WeightedMetrics&, std::int64_t, bool);

Datum evaluation_datum(FunctionCallInfo fcinfo, const Model& model, const RegressionMetrics& metrics,
                       std::int64_t skipped) {
  CompositeBuilder out(fcinfo);
  out.set_int8("rows", metrics.rows());
  out.set_int8("skipped", skipped);
  out.set_float8("weight", metrics.weight());
  out.set_float8("mse", metrics.mean_squared_error());
  out.set_float8("mae", metrics.mean_absolute_error());
  out.set_float8("r2", metrics.r_squared());
  if (const auto tau = model.quantile()) out.set_float8("pinball", metrics.mean_pinball(*tau));
  if (model.log_link()) out.set_float8("deviance", metrics.mean_deviance());
  return out.finish();
}

void require_classes(const Model& model, const char* function) {
  if (!model.regression()) return;
  throw Error(ErrorKind::unsupported, std::string(function) + " needs a model of classes, this one is a regression",
              "margin_evaluate gives the errors of a regression.");
}

void require_two_classes(const Model& model) {
  if (model.classes.size() == 2) return;
  throw Error(ErrorKind::unsupported, "a threshold is for a model of two classes, this one " +
                                          (model.regression() ? std::string("is a regression")
                                                              : "has " + std::to_string(model.classes.size())));
}

std::optional<Datum> threshold_datum(FunctionCallInfo fcinfo, const WeightedMetrics& metrics, const ThresholdGoal& goal,
                                     std::int64_t skipped) {
  if (metrics.rows() == 0) return std::nullopt;
  const std::optional<OperatingPoint> best = choose_threshold(metrics, goal);
  if (!best.has_value()) return std::nullopt;
  CompositeBuilder out(fcinfo);
  out.set_int8("rows", metrics.rows());
  out.set_int8("skipped", skipped);
  out.set_float8("threshold", best->threshold);
  out.set_float8("precision", best->precision());
  out.set_float8("recall", best->recall());
  out.set_float8("f1", best->f1());
  out.set_float8("accuracy", best->accuracy());
  out.set_float8("mcc", best->mcc());
  if (goal.kind == ThresholdGoal::Kind::costs) out.set_float8("cost", mean_cost(*best, goal));
  const double counts[] = {best->true_negatives, best->false_positives, best->false_negatives, best->true_positives};
  out.set("confusion", FLOAT8ARRAYOID, float8_matrix(counts, 2, 2));
  return out.finish();
}

}  // namespace margin::pg
