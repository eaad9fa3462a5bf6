// The two-step form of margin_verify, margin_evaluate, margin_threshold and the charts, for engines that push aggregates of one concrete
// argument down to where the rows are: margin_term(model, label, features) reads a row, margin_sum adds up, and scalar
// functions of the model and the sum say what the aggregates over rows say.
#include "core/report/charts.hpp"
#include "core/scans/model_figures.hpp"
#include "pg/functions/pass_agg.hpp"
#include "pg/server/interrupts.hpp"
#include "pg/values/figures_datum.hpp"
#include "pg/values/recent.hpp"
#include "pg/values/row_weight.hpp"
#include "pg/values/scan_values.hpp"

namespace margin::pg {
namespace {

/// A model made ready for rows, or for their sum.
struct Judge {
  Judge(Datum composite, bool weighted)
      : model(flat_model(composite)), options(settings_of(*model)), figures(*model, options, weighted) {}
  /// For what the sum is of.
  Judge(Datum composite, const Answer& sum)
      : model(flat_model(composite)),
        options(settings_of(*model)),
        figures(*model, options, ModelFigures::weighted(*model, options, sum)) {}

  const Term& term(const LabelReader& reader, Datum label, const Row& row, double weight) {
    const Row x = fitted(*model, row);
    require_finite(x, "WHERE");
    if (model->interpolates()) {
      const LabelReader::Interval target = reader.interval(label);
      return figures.term(x, target.lower, target.upper, memory_limit(), weight);
    }
    if (model->regression()) {
      const double target = reader.number(label);
      return figures.term(x, target, target, memory_limit(), weight);
    }
    const std::int32_t truth =
        labels.find(reader, label, [&](const LabelReader::ClassName& name) { return model.class_index(name.text); });
    return figures.term(x, truth, memory_limit(), weight);
  }

  GroupModel model;
  const Options options;
  ModelFigures figures;
  LabelCache labels;
};

struct ModelTermCall {
  explicit ModelTermCall(FunctionCallInfo fcinfo)
      : label(get_fn_expr_argtype(fcinfo->flinfo, 1)),
        features(fcinfo, 2),
        constant(constant_argument(fcinfo)),
        weighted(PG_NARGS() > 3) {}

  Judge& judge(Datum model) {
    if (constant && last != nullptr) return *last;
    const std::string_view key = argument_key(model);
    if (auto* known = judges.find(key)) return *(last = known->get());
    auto fresh = std::make_unique<Judge>(model, weighted);
    const double bytes = 3 * bytes_of(*fresh->model) + 2 * static_cast<double>(key.size());
    return *(last = judges.add(key, std::move(fresh), bytes).get());
  }

  LabelReader label;
  FeatureReader features;
  bool constant, weighted;
  Recent<std::unique_ptr<Judge>> judges;
  Judge* last = nullptr;
};

/// The sum of a scalar function (model, state).
Answer answer_of(FunctionCallInfo fcinfo) {
  return Answer::from_bytes(scan_bytes(PG_GETARG_DATUM(1)), InterruptProgress());
}

/// The SVG of a sum; NULL without rows.
Datum draw(FunctionCallInfo fcinfo, const char* function, Chart chart) {
  const Answer answer = answer_of(fcinfo);
  const Judge judge(PG_GETARG_DATUM(0), answer);
  require_classes(*judge.model, function);
  const WeightedMetrics metrics = judge.figures.classification(answer);
  if (metrics.rows() == 0) PG_RETURN_NULL();
  return text_datum(svg(chart(metrics, judge.model->classes)));
}

}  // namespace
}  // namespace margin::pg

using namespace margin::pg;

// Not strict: a row without label or features is counted as skipped.
MARGIN_FUNCTION(margin_term_of_model) {
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  auto& call = query_state<ModelTermCall>(fcinfo);
  Judge& judge = call.judge(PG_GETARG_DATUM(0));
  const std::optional<margin::FeatureRow> x =
      PG_ARGISNULL(1) || PG_ARGISNULL(2) ? std::nullopt : judge.model.read(call.features, PG_GETARG_DATUM(2));
  if (!x.has_value()) return term_datum(judge.figures.skipped());
  return term_datum(judge.term(call.label, PG_GETARG_DATUM(1), *x, call.weighted ? row_weight(fcinfo, 3) : 1));
}

MARGIN_FUNCTION(margin_verify_of_state) {
  const margin::Answer answer = answer_of(fcinfo);
  const Judge judge(PG_GETARG_DATUM(0), answer);
  InterruptProgress progress;
  const margin::VerifiedModel found = judge.figures.verification(answer, progress);
  if (found.rows == 0) PG_RETURN_NULL();
  return verification_datum(fcinfo, found, answer.skipped());
}

MARGIN_FUNCTION(margin_evaluate_of_state) {
  const margin::Answer answer = answer_of(fcinfo);
  const Judge judge(PG_GETARG_DATUM(0), answer);
  if (judge.model->regression()) {
    const margin::RegressionMetrics metrics = judge.figures.regression(answer);
    if (metrics.rows() == 0) PG_RETURN_NULL();
    return evaluation_datum(fcinfo, *judge.model, metrics, answer.skipped());
  }
  const margin::WeightedMetrics metrics = judge.figures.classification(answer);
  if (metrics.rows() == 0) PG_RETURN_NULL();
  return evaluation_datum(fcinfo, *judge.model, metrics, answer.skipped(), judge.figures.weighted());
}

/// (model, state, options)
MARGIN_FUNCTION(margin_threshold_of_state) {
  const margin::ThresholdGoal goal = margin::parse_threshold(options_from(PG_GETARG_DATUM(2)));
  const margin::Answer answer = answer_of(fcinfo);
  const Judge judge(PG_GETARG_DATUM(0), answer);
  require_two_classes(*judge.model);
  const std::optional<Datum> found =
      threshold_datum(fcinfo, judge.figures.classification(answer), goal, answer.skipped());
  if (!found.has_value()) PG_RETURN_NULL();
  return *found;
}

MARGIN_FUNCTION(margin_roc_of_state) { return draw(fcinfo, "margin_roc", margin::roc_plot); }
MARGIN_FUNCTION(margin_reliability_of_state) { return draw(fcinfo, "margin_reliability", margin::reliability_plot); }
MARGIN_FUNCTION(margin_histogram_of_state) { return draw(fcinfo, "margin_histogram", margin::histogram_plot); }
