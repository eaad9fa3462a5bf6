// The aggregates margin_cross_validate and margin_path: many trainings on rows that are read once.
#include "core/train/fold_encoding.hpp"
#include "pg/functions/group_errors.hpp"
#include "pg/functions/train_agg.hpp"
#include "pg/functions/training_warnings.hpp"
#include "pg/server/interrupts.hpp"
#include "pg/values/jsonb.hpp"
#include "pg/values/model_datum.hpp"
#include "pg/values/selection_datum.hpp"

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
  warn_of_selection(selection);
  if (selection.certificate.has_value()) warn_of_unproven(*selection.certificate, selection.settings.size());
  margin::Value::Object chosen = rows->options;
  if (rows->encoder != nullptr) margin::name_pairs(chosen, *rows->encoder);
  return selection_datum(fcinfo, selection, options, {rows->data.rows(), rows->skipped}, chosen);
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
