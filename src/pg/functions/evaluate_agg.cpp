// The aggregate margin_evaluate: how good a model is on labelled rows. margin_roc, margin_reliability and
// margin_histogram draw the same state, so that PostgreSQL makes one pass for all of them in one query.
#include "core/math/norm.hpp"
#include "core/report/charts.hpp"
#include "pg/functions/pass_agg.hpp"
#include "pg/values/figures_datum.hpp"
#include "pg/values/row_weight.hpp"

namespace margin::pg {
namespace {

/// Count: std::int64_t, or double of rows with weights.
template <class Count>
struct EvaluateState {
  EvaluateState(std::string flat, bool) : model(std::move(flat)) {
    scores.resize(static_cast<std::size_t>(model->outputs()));
    odds.resize(model->converts_scores() ? scores.size() : 0);
    if (!model->regression())
      classes.emplace(static_cast<std::int32_t>(model->classes.size()),
                      lp_norm(model->weights.data(), model->weights.size(), 2), model->probabilistic());
  }

  void add(PassCall& call, Datum label, const Row& x, Count weight = 1) {
    checked_scores(*model, model.scorer(), x, scores.data());
    if (!classes.has_value()) {
      const double target = call.label.number(label);
      targets.add(target, model->prediction(scores[0]), model->deviance(scores[0], target),
                  static_cast<double>(weight));
      return;
    }
    const std::int32_t truth = labels.find(
        call.label, label, [&](const LabelReader::ClassName& name) { return model.class_index(name.text); });
    if (!odds.empty()) model->log_odds(scores.data(), odds.data());
    classes->add(truth, decide(model->outputs(), scores.data()), scores.data(), odds.empty() ? nullptr : odds.data(),
                 weight);
  }
  void merge(const EvaluateState& other) {
    if (classes.has_value())
      classes->merge(*other.classes);
    else
      targets.merge(other.targets);
  }
  template <class Archive>
  bool exchange(Archive& archive) {
    return classes.has_value() ? classes->exchange(archive) : targets.exchange(archive);
  }
  std::int64_t rows() const { return classes.has_value() ? classes->rows() : targets.rows(); }

  GroupModel model;
  std::int64_t skipped = 0;
  std::optional<CountingMetrics<Count>> classes;
  RegressionMetrics targets;
  LabelCache labels;
  std::vector<double> scores, odds;  // odds: of models whose scores are none
};
using Rows = EvaluateState<std::int64_t>;
using WeightedRows = EvaluateState<double>;

template <class State>
Datum evaluation(FunctionCallInfo fcinfo) {
  aggregate_context(fcinfo);
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  const auto* state = reinterpret_cast<const State*>(PG_GETARG_POINTER(0));
  if (state->rows() == 0) PG_RETURN_NULL();
  return state->classes.has_value() ? evaluation_datum(fcinfo, *state->model, *state->classes, state->skipped)
                                    : evaluation_datum(fcinfo, *state->model, state->targets, state->skipped);
}

/// A weighted row of margin_evaluate.
Datum weighted_step(FunctionCallInfo fcinfo) {
  const auto add = [&](WeightedRows& state, PassCall& call, const Row& x) {
    const double weight = row_weight(fcinfo, 4);
    if (weight > 0) state.add(call, PG_GETARG_DATUM(2), x, weight);
  };
  return pass_step<WeightedRows>(fcinfo, add);
}

/// The SVG of a state; NULL without rows.
Datum draw(FunctionCallInfo fcinfo, const char* aggregate, Chart chart) {
  aggregate_context(fcinfo);
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  const auto* state = reinterpret_cast<const Rows*>(PG_GETARG_POINTER(0));
  if (state->rows() == 0) PG_RETURN_NULL();
  require_classes(*state->model, aggregate);
  return text_datum(svg(chart(*state->classes, state->model->classes)));
}

}  // namespace
}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(margin_evaluate_step) { return pass_step<Rows>(fcinfo); }
MARGIN_FUNCTION(margin_evaluate_combine) { return pass_combine<Rows>(fcinfo); }
MARGIN_FUNCTION(margin_evaluate_serialize) { return pass_serialize<Rows>(fcinfo); }
MARGIN_FUNCTION(margin_evaluate_deserialize) { return pass_deserialize<Rows>(fcinfo); }
MARGIN_FUNCTION(margin_evaluate_final) { return evaluation<Rows>(fcinfo); }

MARGIN_FUNCTION(margin_evaluate_weighted_step) { return weighted_step(fcinfo); }
MARGIN_FUNCTION(margin_evaluate_weighted_combine) { return pass_combine<WeightedRows>(fcinfo); }
MARGIN_FUNCTION(margin_evaluate_weighted_serialize) { return pass_serialize<WeightedRows>(fcinfo); }
MARGIN_FUNCTION(margin_evaluate_weighted_deserialize) { return pass_deserialize<WeightedRows>(fcinfo); }
MARGIN_FUNCTION(margin_evaluate_weighted_final) { return evaluation<WeightedRows>(fcinfo); }

MARGIN_FUNCTION(margin_roc_final) { return draw(fcinfo, "margin_roc", margin::roc_plot); }
MARGIN_FUNCTION(margin_reliability_final) { return draw(fcinfo, "margin_reliability", margin::reliability_plot); }
MARGIN_FUNCTION(margin_histogram_final) { return draw(fcinfo, "margin_histogram", margin::histogram_plot); }
