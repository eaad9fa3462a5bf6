#include "pg/values/model_datum.hpp"

#include "core/data/stump_basis.hpp"
#include "core/train/compaction.hpp"
#include "pg/server/interrupts.hpp"
#include "pg/values/features.hpp"
#include "pg/values/jsonb.hpp"
#include "pg/values/kernel_model.hpp"
#include "pg/values/model_terms.hpp"

namespace margin::pg {

namespace {

constexpr const char* type_name = "margin_model";

void read_classes(const CompositeReader& reader, StoredModel& model) {
  if (auto classes = reader.strings("classes")) model.classes = std::move(*classes);
  if (model.classes.size() == 1)
    reader.refuse("classes", "has one class, expected two or more, or NULL for a regression");
  for (std::size_t c = 0; c < model.classes.size(); ++c)
    if (!model.index.emplace(model.classes[c], static_cast<std::int32_t>(c)).second)
      reader.refuse("classes", "names \"" + model.classes[c] + "\" twice");
}

void read_weights(const CompositeReader& reader, StoredModel& model) {
  const std::size_t k = model.classes.size();
  model.outputs = k <= 2 ? 1 : static_cast<std::int32_t>(k);
  auto weights = reader.numbers("weights");
  if (!weights.has_value()) reader.refuse("weights", "is NULL");
  if (weights->values.empty()) reader.refuse("weights", "is empty");
  if (weights->columns == 0 && model.outputs > 1)
    reader.refuse("weights", "must have two dimensions, one row for each of the " + std::to_string(k) + " classes");
  if (weights->columns != 0 && weights->rows != static_cast<std::size_t>(model.outputs))
    reader.refuse("weights",
                  "has " + std::to_string(weights->rows) + " rows, expected " + std::to_string(model.outputs));
  model.terms = static_cast<std::int32_t>(weights->columns == 0 ? weights->rows : weights->columns);
  model.weights = std::move(weights->values);

  auto intercept = reader.numbers("intercept");
  if (!intercept.has_value()) reader.refuse("intercept", "is NULL");
  if (intercept->columns != 0 || intercept->rows != static_cast<std::size_t>(model.outputs))
    reader.refuse("intercept", "must have " + std::to_string(model.outputs) + " element" +
                                   (model.outputs == 1 ? "" : "s") + " in one dimension");
  model.intercept = std::move(intercept->values);
}

void read_dual_weights(const CompositeReader& reader, StoredModel& model) {
  auto dual = reader.numbers("dual_weights");
  if (!dual.has_value()) return;
  if (dual->columns == 0 ? model.outputs != 1 : dual->columns != static_cast<std::size_t>(model.outputs))
    reader.refuse("dual_weights", model.outputs == 1 ? "must have one dimension"
                                                     : "must have " + std::to_string(model.outputs) + " columns");
  model.dual_weights = std::move(dual->values);
}

void read_target_units(const CompositeReader& reader, StoredModel& model) {
  const bool soft = model.regression() && model.lambda.has_value();
  for (const auto& [name, unit] :
       {std::pair{"target_center", &model.target_center}, {"target_scale", &model.target_scale}}) {
    *unit = reader.float8(name);
    if (unit->has_value() && !soft) reader.refuse(name, "must be NULL but for regressions with a lambda");
    if (!std::isfinite(unit->value_or(0))) reader.refuse(name, "must be NULL or a finite number");
  }
  if (model.target_scale.value_or(1) <= 0) reader.refuse("target_scale", "must be NULL or a positive number");
}

void read_calibration(const CompositeReader& reader, StoredModel& model) {
  const auto table = reader.numbers("calibration");
  if (!table.has_value()) return;
  if (model.regression() || !model.lambda.has_value())
    reader.refuse("calibration", "must be NULL but for soft margins with classes");
  const std::string problem = from_table(table->values, table->columns, model.outputs, model.calibration);
  if (!problem.empty()) reader.refuse("calibration", problem);
}

}  // namespace

void read_model(Datum composite, StoredModel& model) {
  const CompositeReader reader(composite, type_name);
  read_classes(reader, model);
  read_weights(reader, model);
  read_terms(reader, model);
  read_dual_weights(reader, model);
  model.loss = reader.string("loss").value_or("");
  model.lambda = reader.float8("lambda");
  if (model.lambda.has_value() && !(std::isfinite(*model.lambda) && *model.lambda > 0))
    reader.refuse("lambda", "must be NULL or a positive number");
  model.norm = reader.float8("norm").value_or(2);
  if (!(model.norm >= 1 && model.norm <= 2)) reader.refuse("norm", "must be NULL or from 1 to 2");
  if (const auto found = margin::refusal_of(model.fields())) reader.refuse(found->field, found->problem);
  model.gap = reader.float8("gap");
  if (model.lambda.has_value() && model.gap.has_value() && !(*model.gap >= 0))
    reader.refuse("gap", "must be NULL or a number of 0 or more");
  read_target_units(reader, model);
  read_calibration(reader, model);
  if (const auto options = reader.get("options", JSONBOID)) {
    Value value = value_from(*options);
    if (auto* object = std::get_if<Value::Object>(&value.data))
      model.options = std::move(*object);
    else if (!std::holds_alternative<std::monostate>(value.data))
      reader.refuse("options", "must be an object");
    const auto unseen = model.options.find("unseen");
    if (unseen != model.options.end()) {
      const auto* name = std::get_if<std::string>(&unseen->second.data);
      model.ignore_unseen = name != nullptr && *name == "ignore";
    }
  }
}

std::int32_t StoredModel::class_index(std::string_view name) const {
  const auto found = index.find(name);
  if (found != index.end()) return found->second;
  constexpr std::size_t most = 20;
  std::string known;
  for (std::size_t c = 0; c < classes.size() && c < most; ++c) known += (c == 0 ? "\"" : ", \"") + classes[c] + "\"";
  if (classes.size() > most) known += " and " + std::to_string(classes.size() - most) + " more";
  const bool boolean = name == "true" || name == "false";
  throw Error(ErrorKind::invalid_value, "label \"" + std::string(name) + "\" is not a class of the model",
              boolean ? "Its labels are of another type: give the label itself, not a comparison."
                      : "Leave such rows out with FILTER (WHERE ...).",
              "The classes of the model are " + known + ".");
}

void require_storable(const Dataset& data, const Options& settings) {
  const std::int32_t classes = data.classes().size();
  const double outputs = classes <= 2 ? 1 : classes;
  if (8 * outputs * data.dimensions() <= MaxAllocSize) return;
  InterruptMonitor monitor;
  const std::int32_t width = solved_width(data, settings, &monitor);
  if (8 * outputs * width <= MaxAllocSize) return;
  throw Error(ErrorKind::limit_exceeded,
              "a model of " + std::to_string(width) + " features and " +
                  (classes > 0 ? std::to_string(classes) + " classes" : std::string("one target")) +
                  " would be larger than the 1 GB that one value can hold",
              "Hash the features into fewer columns, or look for a row with a mistyped index.");
}

Datum model_datum(FunctionCallInfo fcinfo, const Model& model, std::int64_t skipped, const Value::Object& options) {
  CompositeBuilder out(fcinfo);
  out.set_text("solver", model.solver);
  if (!model.loss.empty()) out.set_text("loss", model.loss);
  out.set_float8("norm", model.norm);
  out.set_float8("lambda", model.lambda);
  out.set_text("status", status_name(model.status));
  if (model.task != Task::regression) out.set("classes", TEXTARRAYOID, text_array(model.classes));
  const auto outputs = static_cast<std::size_t>(model.weights.rows()),
             d = static_cast<std::size_t>(model.weights.cols());
  out.set("weights", FLOAT8ARRAYOID,
          outputs == 1 ? float8_array(model.weights.data(), d) : float8_matrix(model.weights.data(), outputs, d));
  out.set("intercept", FLOAT8ARRAYOID,
          float8_array(model.intercept.data(), static_cast<std::size_t>(model.intercept.size())));
  const Certificate& c = model.certificate;
  if (model.loss == "interpolate") {
    out.set_float8("margin_lower", c.slack);
  } else if (!model.lambda.has_value()) {
    out.set_float8("margin_lower", c.lower);
    out.set_float8("margin_upper", c.upper);
  }
  // Of a hard margin the model's own value, the primal one, is the lower bound: the margin is as large as possible.
  const bool primal_is_lower = !model.lambda.has_value() && model.loss != "interpolate";
  out.set_float8("primal", primal_is_lower ? c.lower : c.upper);
  out.set_float8("dual", primal_is_lower ? c.upper : c.lower);
  out.set_float8("gap", c.gap);
  out.set_int8("iterations", model.iterations);
  out.set_int8("rows", model.rows);
  out.set_int8("skipped", skipped);
  out.set_int4("dimensions", model.dimensions);
  if (!model.columns.empty()) {
    std::vector<std::int32_t> columns(model.columns);
    for (std::int32_t& feature : columns) ++feature;
    out.set("columns", INT4ARRAYOID, integer_array(columns));
  }
  set_kernel(out, model.basis.get());
  out.set_int8("support", c.support);
  out.set_float8("seconds", model.seconds);
  out.set("options", JSONBOID, jsonb_from(options));
  if (!model.history.empty()) {
    std::vector<double> points;
    for (const TracePoint& p : model.history)
      points.insert(points.end(), {static_cast<double>(p.iteration), p.seconds, p.lower, p.upper});
    out.set("history", FLOAT8ARRAYOID, float8_matrix(points.data(), model.history.size(), 4));
  }
  if (model.dual_weights.has_value()) {
    const Weights& q = *model.dual_weights;
    const auto n = static_cast<std::size_t>(q.rows()), k = static_cast<std::size_t>(q.cols());
    out.set("dual_weights", FLOAT8ARRAYOID, k == 1 ? float8_array(q.data(), n) : float8_matrix(q.data(), n, k));
  }
  if (const auto* basis = stumps_of(model.basis.get())) {
    std::vector<double> table;
    for (const Stump& s : basis->stumps()) table.insert(table.end(), {s.feature + 1.0, s.threshold});
    out.set("stumps", FLOAT8ARRAYOID, float8_matrix(table.data(), basis->stumps().size(), 2));
  }
  out.set_float8("target_center", model.target_center);
  out.set_float8("target_scale", model.target_scale);
  if (!model.calibration.empty()) {
    const std::vector<double> table = to_table(model.calibration);
    const std::size_t columns = model.calibration.knots.empty() ? 2 : 3;
    out.set("calibration", FLOAT8ARRAYOID, float8_matrix(table.data(), table.size() / columns, columns));
  }
  return out.finish();
}

Row fitted(const StoredModel& model, const Row& x) {
  if (x.indices == nullptr) {
    if (x.count == model.dimensions) return x;
    throw Error(ErrorKind::wrong_dimensions,
                "the model expects " + std::to_string(model.dimensions) + " features, not " + std::to_string(x.count));
  }
  if (reach(x) <= model.dimensions) return x;
  if (!model.ignore_unseen)
    throw Error(ErrorKind::wrong_dimensions,
                "feature " + std::to_string(reach(x)) + " is unknown to the model, which has " +
                    std::to_string(model.dimensions) + " features",
                "To have features that the training did not have ignored, train with margin_options(unseen => "
                "'ignore').");
  Row known = x;
  known.count =
      static_cast<std::int32_t>(std::lower_bound(x.indices, x.indices + x.count, model.dimensions) - x.indices);
  return known;
}

void checked_scores(const StoredModel& model, const Row& row, double* scores) {
  const Row x = fitted(model, row);
  // A stump or a kernel may turn a NaN into a number, and a feature without a weight is not looked at.
  if (model.basis != nullptr || !model.columns.empty()) require_finite(x);
  score(model.scorer(), x, model.dimensions, scores);
  // A NaN or an infinity among the features cannot hide from the sums: only then is the row looked at again.
  bool finite = true;
  for (std::int32_t o = 0; o < model.outputs; ++o) finite &= std::isfinite(scores[o]);
  if (finite) return;
  require_finite(x);
}

Value::Object initial_from(Datum composite) {
  StoredModel model;
  read_model(composite, model);
  if (model.basis != nullptr)
    throw Error(ErrorKind::unsupported, "option \"initial\" starts from weights of features, and this model has none",
                "Give a model without a kernel and without stumps.");
  auto array = [](const std::vector<double>& values) {
    Value::Array out(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) out[i].data = values[i];
    return Value{std::move(out)};
  };
  Value::Object object;
  object["weights"] = array(model.weights);
  object["intercept"] = array(model.intercept);
  if (!model.dual_weights.empty()) object["dual_weights"] = array(model.dual_weights);
  if (model.columns.empty()) return object;
  std::vector<double> columns;
  for (const std::int32_t j : model.columns) columns.push_back(j + 1.0);
  object["columns"] = array(columns);
  object["dimensions"].data = static_cast<double>(model.dimensions);
  return object;
}

}  // namespace margin::pg
