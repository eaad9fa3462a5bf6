// The aggregates margin_cross_validate and margin_path: many trainings on rows that are read once.
#include "core/train/fold_encoding.hpp"
#include "pg/functions/group_errors.hpp"
#include "pg/functions/train_agg.hpp"
#include "pg/functions/training_warnings.hpp"
#include "pg/server/interrupts.hpp"
#include "pg/values/jsonb.hpp"
#include "pg/values/model_datum.hpp"

namespace margin::pg {
namespace {

RowRules rules_of_selection(Value::Object options) {
  const SelectionOptions selection = parse_cross_validation(std::move(options));
  RowRules rules = row_rules(selection.settings);
  if (selection.encoder.has_value()) rules.option_of_rows = "encoder";
  return rules;
}
RowRules rules_of_path(Value::Object options) { return row_rules(parse_path(std::move(options)).settings); }

/// What all groups of a query share: the last progress line.
struct SelectionCall {
  explicit SelectionCall(FunctionCallInfo) {}
  SessionProgress::Clock::time_point last_line{};
  GroupWarnings groups;
};

SessionProgress progress_of(FunctionCallInfo fcinfo, const Options& settings) {
  return {settings.log_level, false, query_state<SelectionCall>(fcinfo).last_line};
}

/// A setting in the options' own names.
Value setting_of(const SettingScore& s, const SelectionOptions& options) {
  Value::Object object = options.grid[s.point].values;
  object["lambda"] = {s.lambda};
  object["loss"] = {s.loss};
  return {object};
}

void set_settings(CompositeBuilder& out, const Selection& selection, const SelectionOptions& options) {
  Value::Array objects;
  std::vector<double> lambdas;
  std::vector<std::string> losses;
  std::vector<std::optional<double>> means, deviations, values;
  for (const SettingScore& s : selection.settings) {
    objects.push_back(setting_of(s, options));
    lambdas.push_back(s.lambda);
    losses.push_back(s.loss);
    means.push_back(s.mean);
    deviations.push_back(s.deviation);
    values.insert(values.end(), s.folds.begin(), s.folds.end());
  }
  out.set("settings", JSONBOID, jsonb_from(objects));
  out.set("lambdas", FLOAT8ARRAYOID, float8_array(lambdas.data(), lambdas.size()));
  out.set("losses", TEXTARRAYOID, text_array(losses));
  out.set("means", FLOAT8ARRAYOID, float8_array(means));
  out.set("deviations", FLOAT8ARRAYOID, float8_array(deviations));
  out.set("fold_values", FLOAT8ARRAYOID, float8_array(values, selection.settings.front().folds.size()));
}

Value bound_value(const ErrorBound& b) {
  Value::Object object;
  object["from"] = {b.from};
  object["to"] = {b.to};
  object["error"] = {b.error};
  return {object};
}

Value::Object certificate_object(const SelectionCertificate& c) {
  Value::Array bounds;
  for (const ErrorBound& b : c.bounds) bounds.push_back(bound_value(b));
  Value::Object out;
  out["asked"] = {c.asked};
  out["proven"] = {c.proven};
  out["error"] = {c.error};
  out["lower"] = {c.lower};
  out["bounds"].data = std::move(bounds);
  return out;
}

void warn_of_unproven(const SelectionCertificate& c, std::size_t trainings) {
  if (c.proven <= c.asked) return;
  warn("proven after " + std::to_string(trainings) + " lambdas: none has an error more than " + figure(c.proven) +
           " below the best one's, asked for " + figure(c.asked),
       "Raise max_trainings, take another loss (a smooth one such as logistic proves most), or give a narrower "
       "interval as lambdas.");
}

/// An encoder for each fold, where the rows have columns and the options do not ask for that of all rows. `options`: with columns by
/// name.
std::optional<FoldEncoding> fold_encoding(const CollectedRows& rows, const SelectionOptions& options) {
  if (rows.encoder == nullptr || options.certified.has_value() || options.encoder == EncoderRows::all)
    return std::nullopt;
  std::vector<Options> points;
  for (const GridPoint& point : options.grid) points.push_back(point.settings);
  return FoldEncoding(*rows.table, *rows.encoder, std::move(points), rows.data.codes() != nullptr);
}

}  // namespace
}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(margin_cross_validate_step) { return collect_row(fcinfo, rules_of_selection); }
MARGIN_FUNCTION(margin_cross_validate_final) {
  GroupWarnings& groups = query_state<SelectionCall>(fcinfo).groups;
  const std::optional<CollectedRows> rows = collected_rows(fcinfo, groups, margin::parse_cross_validation);
  if (!rows.has_value()) PG_RETURN_NULL();
  margin::SelectionOptions options = margin::parse_cross_validation(rows->options);
  const std::optional<margin::FoldEncoding> encoding = fold_encoding(*rows, options);
  options.settings = settings_for(*rows, std::move(options.settings));
  for (margin::GridPoint& point : options.grid) {
    if (rows->encoder != nullptr && point.values.count("standardize") > 0)
      throw margin::Error(
          margin::ErrorKind::unsupported,
          "option \"grid\" takes \"standardize\" for arrays only: rows with named columns are encoded once",
          "Compare two calls, with standardize => true and false.");
    point.settings = settings_for(*rows, std::move(point.settings));
  }
  if (margin::without_model(rows->data, options.settings)) PG_RETURN_NULL();
  require_storable(rows->data, options.settings);
  SessionProgress progress = progress_of(fcinfo, options.settings);
  margin::Selection selection;
  if (!attempt(*rows, groups, [&] {
        selection = margin::cross_validate(rows->data, options, progress, rows->memory, rows->folds,
                                           encoding.has_value() ? &*encoding : nullptr);
      }))
    PG_RETURN_NULL();
  warn_of_unfinished(selection.unfinished, selection.settings.size() * static_cast<std::size_t>(selection.folds));
  if (useless(selection))
    warn("no setting is 1 % better than a constant: the best " + std::string(margin::metric_name(selection.metric)) +
             " is " + figure(*selection.settings[*selection.best].mean) +
             ", that of predicting the same for every row " + figure(*selection.constant),
         "Other lambdas, losses or features may do better; try standardize => true.");
  if (selection.certificate.has_value()) warn_of_unproven(*selection.certificate, selection.settings.size());
  CompositeBuilder out(fcinfo);
  out.set_text("metric", margin::metric_name(selection.metric));
  out.set_int4("folds", selection.folds);
  out.set_int8("rows", rows->data.rows());
  out.set_int8("skipped", rows->skipped);
  set_settings(out, selection, options);
  if (selection.best.has_value()) {
    const margin::SettingScore& best = selection.settings[*selection.best];
    out.set_int4("best", static_cast<std::int32_t>(*selection.best) + 1);
    out.set_float8("best_mean", best.mean);
    margin::Value::Object chosen = rows->options;
    if (rows->encoder != nullptr) margin::name_pairs(chosen, *rows->encoder);
    out.set("options", JSONBOID, jsonb_from(margin::chosen_options(chosen, best, options.grid[best.point].values)));
    const margin::SettingScore& near = selection.settings[*selection.one_standard_error];
    out.set_int4("one_standard_error", static_cast<std::int32_t>(*selection.one_standard_error) + 1);
    out.set("one_standard_error_options", JSONBOID,
            jsonb_from(margin::chosen_options(chosen, near, options.grid[near.point].values)));
  }
  out.set_int8("unfinished", selection.unfinished);
  out.set_float8("seconds", selection.seconds);
  if (!selection.predictions.empty())
    out.set("predictions", FLOAT8ARRAYOID,
            float8_array(selection.predictions, selection.outputs > 1 ? selection.outputs : 0));
  if (selection.certificate.has_value())
    out.set("certificate", JSONBOID, jsonb_from(certificate_object(*selection.certificate)));
  return out.finish();
}

MARGIN_FUNCTION(margin_path_step) { return collect_row(fcinfo, rules_of_path); }
MARGIN_FUNCTION(margin_path_final) {
  GroupWarnings& groups = query_state<SelectionCall>(fcinfo).groups;
  std::optional<CollectedRows> rows = collected_rows(fcinfo, groups, margin::parse_path);
  if (!rows.has_value()) PG_RETURN_NULL();
  margin::SelectionOptions options = margin::parse_path(rows->options);
  options.settings = settings_for(*rows, std::move(options.settings));
  if (margin::without_model(rows->data, options.settings)) PG_RETURN_NULL();
  require_storable(rows->data, options.settings);
  SessionProgress progress = progress_of(fcinfo, options.settings);
  std::vector<margin::Model> models;
  std::vector<double> lambdas;
  if (!attempt(*rows, groups,
               [&] { models = margin::train_path(rows->data, options, progress, rows->memory, &lambdas); }))
    PG_RETURN_NULL();
  rows->options.erase("lambdas");
  rows->options.erase("initial");
  std::vector<Datum> values;
  for (margin::Model& model : models) {
    model.skipped = rows->skipped;
    model.encoder = rows->encoder;
    keep_options(model, rows->options);
    model.options["lambda"] = {lambdas[values.size()]};
    values.push_back(model_datum(fcinfo, model));
  }
  warn_of_path(models, options.settings.tolerance);
  return composite_array(values);
}
