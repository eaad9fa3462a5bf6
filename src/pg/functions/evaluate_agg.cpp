// The aggregate margin_evaluate: how good a model is on labelled rows. margin_roc, margin_reliability and
// margin_histogram draw the same state, so that PostgreSQL makes one pass for all of them in one query.
#include "core/math/norm.hpp"
#include "core/report/charts.hpp"
#include "pg/functions/pass_agg.hpp"

namespace margin::pg {
namespace {

struct EvaluateState {
  EvaluateState(std::string flat, bool) : model(std::move(flat)) {
    scores.resize(static_cast<std::size_t>(model->outputs()));
    odds.resize(model->calibration.empty() ? 0 : scores.size());
    if (!model->regression())
      classes.emplace(static_cast<std::int32_t>(model->classes.size()),
                      lp_norm(model->weights.data(), model->weights.size(), 2), model->probabilistic());
  }

  void add(PassCall& call, Datum label, const Row& x) {
    checked_scores(*model, model.scorer(), x, scores.data());
    if (!classes.has_value()) {
      targets.add(call.label.number(label), scores[0]);
      return;
    }
    const std::int32_t truth = labels.find(
        call.label, label, [&](const LabelReader::ClassName& name) { return model.class_index(name.text); });
    if (!odds.empty()) model->calibration.log_odds(scores.data(), odds.data());
    classes->add(truth, decide(model->outputs(), scores.data()), scores.data(), odds.empty() ? nullptr : odds.data());
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
  std::optional<ClassificationMetrics> classes;
  RegressionMetrics targets;
  LabelCache labels;
  std::vector<double> scores, odds;  // odds: of calibrated models
};

void set_classification(CompositeBuilder& out, const EvaluateState& state) {
  const ClassificationMetrics& m = *state.classes;
  const std::size_t k = state.model->classes.size();
  out.set_float8("accuracy", m.accuracy());
  out.set("classes", TEXTARRAYOID, text_array(state.model->classes));
  out.set("confusion", INT8ARRAYOID, bigint_matrix(m.confusion().data(), k, k));
  out.set("precision", FLOAT8ARRAYOID, float8_array(m.precision()));
  out.set("recall", FLOAT8ARRAYOID, float8_array(m.recall()));
  out.set("f1", FLOAT8ARRAYOID, float8_array(m.f1()));
  const std::vector<double> quantiles = m.margin_quantiles({0, 0.05, 0.25, 0.5, 0.75, 0.95, 1});
  out.set("margin_quantiles", FLOAT8ARRAYOID, float8_array(quantiles.data(), quantiles.size()));
  out.set_float8("auc", m.auc());
  out.set_float8("log_loss", m.log_loss());
}

using Chart = Plot (*)(const ClassificationMetrics&, const std::vector<std::string>&);

/// The SVG of a state; NULL without rows.
Datum draw(FunctionCallInfo fcinfo, const char* aggregate, Chart chart) {
  aggregate_context(fcinfo);
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  const auto* state = reinterpret_cast<const EvaluateState*>(PG_GETARG_POINTER(0));
  if (state->rows() == 0) PG_RETURN_NULL();
  if (!state->classes.has_value())
    throw Error(ErrorKind::unsupported, std::string(aggregate) + " needs a model of classes, this one is a regression",
                "margin_evaluate gives the errors of a regression.");
  return text_datum(svg(chart(*state->classes, state->model->classes)));
}

}  // namespace
}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(margin_evaluate_step) { return pass_step<EvaluateState>(fcinfo); }
MARGIN_FUNCTION(margin_evaluate_combine) { return pass_combine<EvaluateState>(fcinfo); }
MARGIN_FUNCTION(margin_evaluate_serialize) { return pass_serialize<EvaluateState>(fcinfo); }
MARGIN_FUNCTION(margin_evaluate_deserialize) { return pass_deserialize<EvaluateState>(fcinfo); }

MARGIN_FUNCTION(margin_evaluate_final) {
  aggregate_context(fcinfo);
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  const auto* state = reinterpret_cast<const EvaluateState*>(PG_GETARG_POINTER(0));
  if (state->rows() == 0) PG_RETURN_NULL();
  CompositeBuilder out(fcinfo);
  out.set_int8("rows", state->rows());
  out.set_int8("skipped", state->skipped);
  if (state->classes.has_value()) {
    set_classification(out, *state);
  } else {
    out.set_float8("mse", state->targets.mean_squared_error());
    out.set_float8("mae", state->targets.mean_absolute_error());
    out.set_float8("r2", state->targets.r_squared());
  }
  return out.finish();
}

MARGIN_FUNCTION(margin_roc_final) { return draw(fcinfo, "margin_roc", margin::roc_plot); }
MARGIN_FUNCTION(margin_reliability_final) { return draw(fcinfo, "margin_reliability", margin::reliability_plot); }
MARGIN_FUNCTION(margin_histogram_final) { return draw(fcinfo, "margin_histogram", margin::histogram_plot); }
