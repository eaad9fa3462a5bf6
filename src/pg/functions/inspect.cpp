// Looking at a stored model: margin_weights, margin_certificate, margin_history, margin_plot, margin_summary,
// margin_pmml.
#include "core/report/inspect.hpp"

#include "core/data/stump_basis.hpp"
#include "core/report/charts.hpp"
#include "core/report/pmml.hpp"
#include "pg/values/jsonb.hpp"
#include "pg/values/model_datum.hpp"
#include "pg/values/result_set.hpp"

namespace margin::pg {
namespace {

constexpr const char* type_name = "margin_model";

Task task_of(const StoredModel& model) {
  return model.regression() ? Task::regression : model.outputs == 1 ? Task::binary : Task::multiclass;
}

/// `model` must outlive the figures: they point to its weights.
ModelFigures figures_of(Datum composite, const StoredModel& model) {
  const CompositeReader reader(composite, type_name);
  const Options options = settings_of(model);
  ModelFigures m;
  m.task = task_of(model);
  m.scorer = model.scorer();
  m.classes = model.classes;
  m.solver = reader.string("solver").value_or("");
  m.loss = model.loss;
  m.norm = model.norm;
  m.status = reader.string("status").value_or("");
  m.lambda = model.lambda;
  m.l1_ratio = options.l1_ratio;
  m.tolerance = options.tolerance;
  m.standardized = options.standardize;
  m.lower = reader.float8(m.about_margin() ? "margin_lower" : "dual");
  m.upper = reader.float8(m.about_margin() ? "margin_upper" : "primal");
  if (m.interpolation()) m.slack = reader.float8("margin_lower");
  if (m.interpolation() && m.status != "optimal") m.upper.reset();  // some target is missed
  m.iterations = reader.int8("iterations");
  m.rows = reader.int8("rows");
  m.skipped = reader.int8("skipped");
  m.support = reader.int8("support");
  m.seconds = reader.float8("seconds");
  return m;
}

/// The class that a positive weight of an output speaks for; nothing for a regression.
std::vector<std::optional<Datum>> class_of_outputs(const StoredModel& model) {
  std::vector<std::optional<Datum>> names(static_cast<std::size_t>(model.outputs));
  if (model.regression()) return names;
  for (std::size_t o = 0; o < names.size(); ++o) names[o] = text_datum(model.classes[model.outputs == 1 ? 1 : o]);
  return names;
}

/// What the option `history` recorded; empty without it.
std::vector<TracePoint> history_of(Datum composite) {
  const CompositeReader reader(composite, type_name);
  const auto history = reader.numbers("history", true);
  std::vector<TracePoint> points;
  if (!history.has_value()) return points;
  if (!history->values.empty() && history->columns != 4) reader.refuse("history", "must have 4 columns");
  for (std::size_t i = 0; i < history->values.size(); i += 4) {
    const double* p = history->values.data() + i;
    if (!(p[0] >= 0 && p[0] <= 0x1p53)) reader.refuse("history", "has an iteration that is not a count");
    points.push_back({static_cast<std::int64_t>(p[0]), p[1], p[2], p[3]});
  }
  return points;
}

/// Throws Error for a model whose weights are not those of features.
void require_linear(const StoredModel& model, const char* function) {
  if (model.basis == nullptr) return;
  if (stumps_of(model.basis.get()) != nullptr)
    throw Error(ErrorKind::unsupported,
                std::string(function) + " shows weights of features, and this model weighs decision stumps",
                "Its attributes stumps (feature, threshold) and weights belong together, element by element.");
  throw Error(
      ErrorKind::unsupported, "a model with a kernel has no weights on features",
      "Its support vectors are in the attributes support_vectors and sparse_support_vectors, their coefficients in "
      "weights; margin_to_json exports all of it.");
}

std::vector<std::string> feature_names(Datum array) {
  const Texts texts = text_elements(array);
  if (texts.dimensions > 1) throw Error(ErrorKind::wrong_dimensions, "feature_names must be a one-dimensional array");
  std::vector<std::string> names;
  for (const auto& text : texts.values) {
    if (!text.has_value())
      throw Error(ErrorKind::null_value, "the name of feature " + std::to_string(names.size() + 1) + " is NULL");
    names.push_back(*text);
  }
  if (names.empty())
    throw Error(ErrorKind::wrong_dimensions, "feature_names is empty",
                "Give one name for each feature, or leave the argument out.");
  return names;
}

}  // namespace
}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(margin_weights) {
  StoredModel model;
  read_model(PG_GETARG_DATUM(0), model);
  require_linear(model, "margin_weights");
  ResultSet rows(fcinfo);
  const auto names = class_of_outputs(model);
  for (const margin::WeightEntry& w : margin::weights_by_size(model.scorer()))
    rows.add({Int32GetDatum(w.feature + 1), names[static_cast<std::size_t>(w.output)], Float8GetDatum(w.weight)});
  return 0;
}

MARGIN_FUNCTION(margin_certificate) {
  StoredModel model;
  read_model(PG_GETARG_DATUM(0), model);
  const margin::ModelFigures figures = figures_of(PG_GETARG_DATUM(0), model);
  CompositeBuilder out(fcinfo);
  out.set_text("problem", figures.interpolation() ? "interpolation"
                          : figures.hard_margin() ? "hard margin"
                                                  : "soft margin");
  out.set_text("objective", margin::objective_name(figures));
  if (!figures.status.empty()) out.set_text("status", figures.status);
  out.set_float8("lower", figures.lower);
  out.set_float8("upper", figures.upper);
  if (const auto interval = margin::interval_of(figures)) {
    out.set_float8("gap", interval->gap);
    out.set_float8("relative_gap", interval->relative_gap);
    out.set_float8("distance", interval->distance);
  }
  return out.finish();
}

MARGIN_FUNCTION(margin_history) {
  StoredModel model;
  read_model(PG_GETARG_DATUM(0), model);
  ResultSet rows(fcinfo);
  for (const margin::TracePoint& p : history_of(PG_GETARG_DATUM(0)))
    rows.add({Int64GetDatum(p.iteration), Float8GetDatum(p.seconds), Float8GetDatum(p.lower), Float8GetDatum(p.upper)});
  return 0;
}

MARGIN_FUNCTION(margin_plot) {
  StoredModel model;
  read_model(PG_GETARG_DATUM(0), model);
  const margin::ModelFigures figures = figures_of(PG_GETARG_DATUM(0), model);
  return text_datum(margin::svg(margin::history_plot(figures, history_of(PG_GETARG_DATUM(0)))));
}

MARGIN_FUNCTION(margin_summary) {
  StoredModel model;
  read_model(PG_GETARG_DATUM(0), model);
  std::string text = margin::summary(figures_of(PG_GETARG_DATUM(0), model));
  text.pop_back();  // psql ends the line itself
  return text_datum(text);
}

MARGIN_FUNCTION(margin_pmml) {
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  StoredModel model;
  read_model(PG_GETARG_DATUM(0), model);
  require_linear(model, "margin_pmml");
  margin::PmmlModel m;
  m.task = task_of(model);
  m.classes = model.classes;
  m.scorer = model.scorer();
  m.logistic = model.logistic() && model.calibration.empty();  // PMML has no maps of calibration
  m.version = MARGIN_VERSION;
  if (!PG_ARGISNULL(1)) m.feature_names = feature_names(PG_GETARG_DATUM(1));
  return text_datum(margin::pmml(m));
}
