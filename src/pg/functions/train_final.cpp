// The aggregates train_margin and train_one_class, their final functions: the rows that were collected are trained on.
#include "core/problem/one_class.hpp"
#include "core/scans/train_scans.hpp"
#include "pg/functions/group_errors.hpp"
#include "pg/functions/train_agg.hpp"
#include "pg/functions/training_warnings.hpp"
#include "pg/server/interrupts.hpp"
#include "pg/values/model_datum.hpp"

namespace margin::pg {
namespace {

/// What all groups of a query share: the last progress line, and how many warnings were given.
struct FinalCall {
  explicit FinalCall(FunctionCallInfo) {}
  SessionProgress::Clock::time_point last_line{};
  TrainingWarnings warnings;
  GroupWarnings groups;
  int labels_among_columns = 0, told_of_collinear = 0;
};

void warn_of_label(FinalCall& call, const std::string& column) {
  if (column.empty() || ++call.labels_among_columns > most_warnings) return;
  warn("column \"" + column + "\" of the features tells the label of every row",
       "If it is the label, or known only with it, leave it out: margin_options(exclude => '{" + column + "}').");
}

Datum train(FunctionCallInfo fcinfo, FinalCall& call, CollectedRows& rows, const Options& settings) {
  require_storable(rows.data, settings);
  const bool about_margin = (margin::features_of(settings) & margin::feature::hard_margin) != 0;
  SessionProgress progress(settings.log_level, about_margin, call.last_line);
  Model model;
  if (!attempt(rows, call.groups, [&] {
        named_features(rows.encoder.get(), [&] { model = train_or_scan(rows.data, settings, progress, rows.memory); });
      }))
    PG_RETURN_NULL();
  if (!is_one_class(settings)) warn_of_label(call, rows.label_column);
  if (rows.encoder != nullptr && ++call.told_of_collinear <= most_warnings) tell_dropped(*rows.encoder);
  call.warnings.give(model, settings);
  model.skipped = rows.skipped;
  model.encoder = rows.encoder;
  return trained_model(fcinfo, model, std::move(rows.options));
}

}  // namespace
}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(margin_one_class_final) {
  auto& call = query_state<FinalCall>(fcinfo);
  std::optional<CollectedRows> rows = collected_rows(fcinfo, call.groups);
  if (!rows.has_value()) PG_RETURN_NULL();
  return train(fcinfo, call, *rows, margin::one_class_options(margin::parse_options(rows->options)));
}

MARGIN_FUNCTION(margin_train_final) {
  auto& call = query_state<FinalCall>(fcinfo);
  const auto one = [](margin::Value::Object options) { return margin::one_selection(margin::parse_options(options)); };
  std::optional<CollectedRows> rows = collected_rows(fcinfo, call.groups, one);
  if (!rows.has_value()) PG_RETURN_NULL();
  const margin::Options settings = settings_for(*rows, margin::parse_options(rows->options));
  if (margin::without_model(rows->data, settings)) PG_RETURN_NULL();
  return train(fcinfo, call, *rows, settings);
}
