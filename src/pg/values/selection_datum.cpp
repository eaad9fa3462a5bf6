#include "pg/values/selection_datum.hpp"

#include "pg/values/composite.hpp"
#include "pg/values/jsonb.hpp"

namespace margin::pg {

namespace {

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

}  // namespace

Datum selection_datum(FunctionCallInfo fcinfo, const Selection& selection, const SelectionOptions& options,
                      RowCounts counts, const Value::Object& given) {
  CompositeBuilder out(fcinfo);
  out.set_text("metric", metric_name(selection.metric));
  out.set_int4("folds", selection.folds);
  out.set_int8("rows", counts.rows);
  out.set_int8("skipped", counts.skipped);
  set_settings(out, selection, options);
  if (selection.best.has_value()) {
    const SettingScore& best = selection.settings[*selection.best];
    out.set_int4("best", static_cast<std::int32_t>(*selection.best) + 1);
    out.set_float8("best_mean", best.mean);
    out.set("options", JSONBOID, jsonb_from(chosen_options(given, best, options.grid[best.point].values)));
    const SettingScore& near = selection.settings[*selection.one_standard_error];
    out.set_int4("one_standard_error", static_cast<std::int32_t>(*selection.one_standard_error) + 1);
    out.set("one_standard_error_options", JSONBOID,
            jsonb_from(chosen_options(given, near, options.grid[near.point].values)));
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

}  // namespace margin::pg
