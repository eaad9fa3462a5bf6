// Looking at a stored model: margin_weights, margin_rules, margin_certificate, margin_gap_at, margin_history, margin_summary,
// margin_pmml, margin_sql.
#include "core/report/inspect.hpp"

#include "core/analysis/model_ball.hpp"
#include "core/data/stump_basis.hpp"
#include "core/formats/pmml.hpp"
#include "core/formats/sql_expression.hpp"
#include "core/report/charts.hpp"
#include "core/report/model_rules.hpp"
#include "core/scans/model_question.hpp"
#include "pg/server/interrupts.hpp"
#include "pg/values/feature_names.hpp"
#include "pg/values/jsonb.hpp"
#include "pg/values/model_datum.hpp"
#include "pg/values/result_set.hpp"
#include "pg/values/scan_values.hpp"

namespace margin::pg {
namespace {

/// The class that a positive weight of an output speaks for; nothing for a regression.
std::vector<std::optional<Datum>> class_of_outputs(const Model& model) {
  std::vector<std::optional<Datum>> names(static_cast<std::size_t>(model.outputs()));
  if (model.regression()) return names;
  for (std::size_t o = 0; o < names.size(); ++o) names[o] = text_datum(model.classes[model.outputs() == 1 ? 1 : o]);
  return names;
}

/// Throws Error for a model whose weights are not those of features.
void require_linear(const Model& model, const char* function) {
  if (model.basis == nullptr) return;
  if (stumps_of(model.basis.get()) != nullptr)
    throw Error(ErrorKind::unsupported,
                std::string(function) + " shows weights of features, and this model weighs decision " +
                    (model.learners() == Learners::trees ? "trees" : "stumps"),
                "Its attributes stumps and weights belong together, row by element.");
  throw Error(
      ErrorKind::unsupported, "a model with a kernel has no weights on features",
      "Its support vectors are in the attributes support_vectors and sparse_support_vectors, their coefficients in "
      "weights; margin_to_json exports all of it.");
}

void set_interval(CompositeBuilder& out, const ToldBounds& bounds, const std::optional<Interval>& interval) {
  out.set_float8("lower", bounds.lower);
  out.set_float8("upper", bounds.upper);
  if (!interval.has_value()) return;
  out.set_float8("gap", interval->gap);
  out.set_float8("relative_gap", interval->relative_gap);
  out.set_float8("distance", interval->distance);
}

}  // namespace
}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(margin_weights) {
  const margin::Model model = read_model(PG_GETARG_DATUM(0));
  require_linear(model, "margin_weights");
  ResultSet rows(fcinfo);
  const auto names = class_of_outputs(model);
  const margin::Encoder* encoder = model.encoder.get();
  for (const margin::WeightEntry& w : margin::weights_by_size(model)) {
    const auto name = encoder != nullptr ? std::optional(text_datum(encoder->feature_name(w.feature))) : std::nullopt;
    rows.add({Int32GetDatum(w.feature + 1), names[static_cast<std::size_t>(w.output)],
              Float8GetDatum(encoder != nullptr ? w.weight / encoder->scale(w.feature) : w.weight), name,
              encoder != nullptr ? std::optional(Float8GetDatum(w.weight)) : std::nullopt});
  }
  return 0;
}

MARGIN_FUNCTION(margin_rules) {
  margin::Model model = read_model(PG_GETARG_DATUM(0));
  const margin::Options options = settings_of(model);
  read_figures(PG_GETARG_DATUM(0), model);
  ResultSet rows(fcinfo);
  const auto classes = class_of_outputs(model);
  for (const margin::ModelRule& rule : margin::model_rules(model, options)) {
    using Relation = margin::ModelRule::Relation;
    const char* const relation = rule.relation == Relation::at_most ? "<="
                                 : rule.relation == Relation::equal ? "="
                                                                    : ">=";
    rows.add({classes[static_cast<std::size_t>(rule.output)], text_datum(rule.name), Float8GetDatum(rule.value),
              text_datum(relation), Float8GetDatum(rule.bound), BoolGetDatum(rule.active),
              std::isnan(rule.price) ? std::nullopt : std::optional(Float8GetDatum(rule.price))});
  }
  return 0;
}

MARGIN_FUNCTION(margin_certificate) {
  margin::Model model = read_model(PG_GETARG_DATUM(0));
  const margin::Options options = settings_of(model);
  read_figures(PG_GETARG_DATUM(0), model);
  CompositeBuilder out(fcinfo);
  out.set_text("problem", margin::problem_name(model.hard_margin(), model.interpolates()));
  out.set_text("objective", margin::objective_name(model, options));
  if (const std::string status = status_of(PG_GETARG_DATUM(0)); !status.empty()) out.set_text("status", status);
  set_interval(out, margin::bounds_of(model), margin::interval_of(model, options));
  return out.finish();
}

/// (question, state): of the weights of the question.
MARGIN_FUNCTION(margin_certificate_of_state) {
  InterruptProgress progress;
  const margin::Question question = margin::Question::from_bytes(scan_bytes(PG_GETARG_DATUM(0)));
  const margin::Certificate proven = margin::answered_certificate(
      question, margin::Answer::from_bytes(scan_bytes(PG_GETARG_DATUM(1)), progress), progress);
  const margin::Objective objective = question.objective();
  const margin::ToldBounds bounds = margin::bounds_of(objective, proven);
  CompositeBuilder out(fcinfo);
  out.set_text("problem", margin::problem_name(objective.hard_margin(), objective.interpolate));
  out.set_text("objective", margin::objective_name(objective));
  set_interval(out, bounds, margin::interval_of(objective, bounds));
  return out.finish();
}

MARGIN_FUNCTION(margin_gap_at) {
  margin::Model model = read_model(PG_GETARG_DATUM(0));
  const margin::Options options = settings_of(model);
  read_figures(PG_GETARG_DATUM(0), model);
  const margin::IntervalAt at = margin::gap_at(model, options, PG_GETARG_FLOAT8(1));
  CompositeBuilder out(fcinfo);
  out.set_float8("lower", at.lower);
  out.set_float8("upper", at.upper);
  out.set_float8("gap", at.upper - at.lower);
  out.set_float8("relative_gap", at.upper > at.lower ? (at.upper - at.lower) / at.upper : 0.0);
  return out.finish();
}

MARGIN_FUNCTION(margin_history) {
  margin::Model model = read_model(PG_GETARG_DATUM(0));
  ResultSet rows(fcinfo);
  read_history(PG_GETARG_DATUM(0), model);
  for (const margin::TracePoint& p : model.history) {
    std::vector<std::optional<Datum>> row = {Int64GetDatum(p.iteration), Float8GetDatum(p.seconds),
                                             Float8GetDatum(p.lower), Float8GetDatum(p.upper)};
    row.resize(6);
    if (p.learner > 0) row[4] = Float8GetDatum(p.step), row[5] = Int64GetDatum(p.learner);
    rows.add(row);
  }
  return 0;
}

MARGIN_FUNCTION(margin_summary) {
  margin::Model model = read_model(PG_GETARG_DATUM(0));
  const margin::Options options = settings_of(model);
  read_figures(PG_GETARG_DATUM(0), model);
  std::string text = margin::summary(model, options);
  text.pop_back();  // psql ends the line itself
  return text_datum(text);
}

MARGIN_FUNCTION(margin_pmml) {
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  const margin::Model model = read_model(PG_GETARG_DATUM(0));
  require_linear(model, "margin_pmml");
  std::vector<std::string> names;
  if (!PG_ARGISNULL(1)) names = feature_names(PG_GETARG_DATUM(1));
  return text_datum(margin::pmml(model, names, MARGIN_VERSION, InterruptProgress()));
}

// (model, features, alias)
MARGIN_FUNCTION(margin_sql) {
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  const margin::Model model = read_model(PG_GETARG_DATUM(0));
  margin::SqlNames names;
  if (!PG_ARGISNULL(1)) {
    if (model.encoder != nullptr)
      throw margin::Error(margin::ErrorKind::unsupported, "the model has names for its features, and takes no others",
                          "Leave the argument features out; alias is the name of the table that has its columns.");
    names.features = text_from(PG_GETARG_DATUM(1));
  }
  if (!PG_ARGISNULL(2)) names.alias = text_from(PG_GETARG_DATUM(2));
  return text_datum(margin::sql_expression(model, names, InterruptProgress()));
}
