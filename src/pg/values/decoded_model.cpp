// A margin_model read back: its attributes checked one by one and against each other.
#include "core/certificate/ball.hpp"
#include "core/consequences/where/ellipsoid.hpp"
#include "core/data/stump_basis.hpp"
#include "pg/values/jsonb.hpp"
#include "pg/values/model_datum.hpp"
#include "pg/values/model_terms.hpp"

namespace margin::pg {

namespace {

constexpr const char* type_name = "margin_model";

/// What is not read, or NULL.
constexpr Certificate untold = [] {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  Certificate c;
  c.lower = c.upper = c.gap = c.relative_gap = c.radius = c.slack = c.failure = c.constant_failure = nan;
  c.support = c.errors = -1;
  return c;
}();

void read_classes(const CompositeReader& reader, Model& model) {
  if (auto classes = reader.strings("classes")) model.classes = std::move(*classes);
  if (model.classes.size() == 1)
    reader.refuse("classes", "has one class, expected two or more, or NULL for a regression");
  std::unordered_set<std::string_view> names;
  for (const std::string& name : model.classes)
    if (!names.insert(name).second) reader.refuse("classes", "names \"" + name + "\" twice");
  model.task = model.classes.empty() ? Task::regression : model.classes.size() == 2 ? Task::binary : Task::multiclass;
}

void read_weights(const CompositeReader& reader, Model& model) {
  const std::size_t k = model.classes.size();
  const std::size_t outputs = k <= 2 ? 1 : k;
  auto weights = reader.numbers("weights");
  if (!weights.has_value())
    throw Error(
        ErrorKind::malformed, "malformed margin_model: field \"weights\" is NULL",
        "Use models as train_margin returned them. In PL/pgSQL write m := (SELECT ...): SELECT ... INTO m takes the "
        "columns of the query for the fields of m.");
  if (weights->values.empty()) reader.refuse("weights", "is empty");
  if (weights->columns == 0 && outputs > 1)
    reader.refuse("weights", "must have two dimensions, one row for each of the " + std::to_string(k) + " classes");
  if (weights->columns != 0 && weights->rows != outputs)
    reader.refuse("weights", "has " + std::to_string(weights->rows) + " rows, expected " + std::to_string(outputs));
  const std::size_t terms = weights->columns == 0 ? weights->rows : weights->columns;
  model.weights = Eigen::Map<const Weights>(weights->values.data(), static_cast<Eigen::Index>(outputs),
                                            static_cast<Eigen::Index>(terms));

  auto intercept = reader.numbers("intercept");
  if (!intercept.has_value()) reader.refuse("intercept", "is NULL");
  if (intercept->columns != 0 || intercept->rows != outputs)
    reader.refuse("intercept", "must have " + std::to_string(outputs) + " element" + (outputs == 1 ? "" : "s") +
                                   " in one dimension");
  model.intercept = Eigen::Map<const Eigen::VectorXd>(intercept->values.data(), static_cast<Eigen::Index>(outputs));
}

void read_dual_weights(const CompositeReader& reader, Model& model) {
  auto dual = reader.numbers("dual_weights");
  if (!dual.has_value()) return;
  const std::int32_t outputs = model.outputs();
  if (dual->columns == 0 ? outputs != 1 : dual->columns != static_cast<std::size_t>(outputs))
    reader.refuse("dual_weights",
                  outputs == 1 ? "must have one dimension" : "must have " + std::to_string(outputs) + " columns");
  if (dual->values.empty()) return;
  model.dual_weights.emplace(
      Eigen::Map<const Weights>(dual->values.data(), static_cast<Eigen::Index>(dual->rows), outputs));
}

void read_target_units(const CompositeReader& reader, Model& model) {
  const bool soft = model.regression() && model.lambda.has_value();
  for (const auto& [name, unit] :
       {std::pair{"target_center", &model.target_center}, {"target_scale", &model.target_scale}}) {
    *unit = reader.float8(name);
    if (unit->has_value() && !soft) reader.refuse(name, "must be NULL but for regressions with a lambda");
    if (!std::isfinite(unit->value_or(0))) reader.refuse(name, "must be NULL or a finite number");
  }
  if (model.target_scale.value_or(1) <= 0) reader.refuse("target_scale", "must be NULL or a positive number");
}

/// As curvature_datum() wrote it.
void read_curvature(const CompositeReader& reader, const Model& model, DualPoint& point) {
  const auto table = reader.numbers("curvature");
  if (!table.has_value()) return;
  const auto outputs = static_cast<std::size_t>(model.outputs()), terms = static_cast<std::size_t>(model.terms());
  const auto width = [](std::size_t n) { return 4 + n + 2 * n * (n + 1); };
  const std::size_t n = table->columns == width(terms) ? terms : terms + 1;
  if (table->rows != outputs || table->columns != width(n))
    reader.refuse("curvature", "must have " + std::to_string(outputs) + " row" + (outputs == 1 ? "" : "s") + " of " +
                                   std::to_string(width(terms)) + " or " + std::to_string(width(terms + 1)) +
                                   " numbers");
  auto points = std::make_shared<std::vector<CurvedPoint>>(outputs);
  const double* at = table->values.data();
  for (CurvedPoint& p : *points) {
    if (!(at[0] > 0)) reader.refuse("curvature", "must begin with a weight of all rows above 0");
    for (double* const number : {&p.total_weight, &p.reach, &p.matrix_error, &p.gradient_error}) {
      if (!(*at >= 0 && std::isfinite(*at))) reader.refuse("curvature", "must have finite figures of 0 or more");
      *number = *at++;
    }
    for (auto* const part : {&p.gradient, &p.metric, &p.middle, &p.spread, &p.bent}) {
      const std::size_t size = part == &p.gradient ? n : n * (n + 1) / 2;
      part->assign(at, at + size);
      at += size;
    }
  }
  point.curvature = std::move(points);
}

/// As ball_datum() wrote it.
void read_ball(const CompositeReader& reader, Model& model) {
  const auto table = reader.numbers("ball");
  if (!table.has_value()) return;
  if (!model.lambda.has_value() || model.basis != nullptr)
    reader.refuse("ball", "must be NULL but for soft margins that are linear in the features");
  const auto outputs = static_cast<std::size_t>(model.outputs()), terms = static_cast<std::size_t>(model.terms());
  // Without the last row it is of a build that had no more to say of W.
  const bool whole = table->rows == outputs + 1;
  if ((!whole && table->rows != outputs) || (table->columns != 4 && table->columns != 4 + terms))
    reader.refuse(
        "ball", "must have " + std::to_string(outputs + 1) + " rows of 4 or " + std::to_string(4 + terms) + " numbers");
  const bool shared = outputs > 1 && model.joint();
  DualPoint point;
  point.intercept.resize(model.outputs());
  if (table->columns > 4) point.offset.resize(model.outputs(), model.terms());
  for (std::size_t o = 0; o < outputs; ++o) {
    const double* const row = table->values.data() + o * table->columns;
    if (!(row[0] > 0)) reader.refuse("ball", "must begin with a weight of all rows above 0");
    if (!(row[1] >= 0 && row[2] >= 0)) reader.refuse("ball", "must have slacks and errors of 0 or more");
    const auto at = static_cast<Eigen::Index>(o);
    if (o > 0 && row[0] != table->values[0]) reader.refuse("ball", "must begin with the same weight in every row");
    point.intercept(at) = row[3];
    if (table->columns > 4) std::copy_n(row + 4, terms, point.offset.row(at).data());
    if (shared && o > 0) continue;
    point.slack.push_back(row[1]);
    point.error.push_back(row[2]);
  }
  const double* const last = table->values.data() + outputs * table->columns;
  if (whole && !(std::fabs(last[0]) <= 1e-9 * table->values[0] && last[1] >= 0))
    reader.refuse("ball", "must end with what is left of the weight, and an error of 0 or more");
  point.total_weight = {table->values[0], whole ? last[0] : 0.0, whole ? last[1] : infinity};
  read_curvature(reader, model, point);
  model.dual_point = std::make_shared<const DualPoint>(std::move(point));
}

void read_calibration(const CompositeReader& reader, Model& model) {
  const auto table = reader.numbers("calibration");
  if (!table.has_value()) return;
  if (model.regression() || !model.lambda.has_value())
    reader.refuse("calibration", "must be NULL but for soft margins with classes");
  const std::string problem = from_table(table->values, table->columns, model.outputs(), model.calibration);
  if (!problem.empty()) reader.refuse("calibration", problem);
}

/// Of the shape of the weights, and after those of an output one for each constraint.
void read_prices(const CompositeReader& reader, Model& model) {
  const auto prices = reader.numbers("prices");
  if (!prices.has_value()) return;
  const auto outputs = static_cast<std::size_t>(model.outputs()), terms = static_cast<std::size_t>(model.terms());
  const auto columns = static_cast<std::size_t>(outputs == 1 ? prices->rows : prices->columns);
  const bool fits = outputs == 1 ? prices->columns == 0 : prices->rows == outputs;
  if (!fits || columns < terms)
    reader.refuse("prices", "must have one number for each of the weights, and one for each constraint");
  const Eigen::Map<const Weights> all(prices->values.data(), model.outputs(), static_cast<Eigen::Index>(columns));
  model.prices = all.leftCols(model.terms());
  if (columns > terms) model.constraint_prices = all.rightCols(static_cast<Eigen::Index>(columns - terms));
}

}  // namespace

Model read_model(Datum composite) {
  const CompositeReader reader(composite, type_name);
  Model model;
  read_classes(reader, model);
  read_weights(reader, model);
  read_terms(reader, model);
  if (const auto encoder = reader.get("encoder", JSONBOID)) {
    model.encoder = Encoder::from_value(value_from(*encoder));
    if (model.encoder->width() != model.dimensions)
      reader.refuse("encoder", "has " + std::to_string(model.encoder->width()) + " features, and the model " +
                                   std::to_string(model.dimensions));
  }
  read_dual_weights(reader, model);
  model.loss = reader.string("loss").value_or("");
  model.lambda = reader.float8("lambda");
  if (model.lambda.has_value() && !(std::isfinite(*model.lambda) && *model.lambda >= 0))
    reader.refuse("lambda", "must be NULL or a number of 0 or more");
  model.norm = reader.float8("norm").value_or(2);
  if (!(model.norm >= 1 && model.norm <= 2)) reader.refuse("norm", "must be NULL or from 1 to 2");
  if (const auto found = conflict_of(model)) reader.refuse(found->field, found->problem);
  const auto gap = reader.float8("gap");
  if (model.lambda.has_value() && gap.has_value() && !(*gap >= 0))
    reader.refuse("gap", "must be NULL or a number of 0 or more");
  model.certificate = untold;
  model.certificate.gap = gap.value_or(untold.gap);
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
  read_ball(reader, model);
  read_prices(reader, model);
  return model;
}

void read_figures(Datum composite, Model& model) {
  const CompositeReader reader(composite, type_name);
  model.solver = reader.string("solver").value_or("");
  if (const auto status = reader.string("status")) model.status = status_from(*status);
  Certificate& c = model.certificate;
  c.lower = reader.float8(model.about_margin() ? "margin_lower" : "dual").value_or(untold.lower);
  c.upper = reader.float8(model.about_margin() ? "margin_upper" : "primal").value_or(untold.upper);
  if (model.interpolates()) c.slack = reader.float8("margin_lower").value_or(untold.slack);
  c.support = reader.int8("support").value_or(untold.support);
  model.iterations = reader.int8("iterations");
  model.rows = reader.int8("rows");
  model.skipped = reader.int8("skipped");
  model.seconds = reader.float8("seconds");
}

std::string status_of(Datum composite) { return CompositeReader(composite, type_name).string("status").value_or(""); }

void read_history(Datum composite, Model& model) {
  const CompositeReader reader(composite, type_name);
  const auto history = reader.numbers("history", true);
  if (!history.has_value()) return;
  const std::size_t columns = history->values.empty() ? 4 : history->columns;
  if (columns != 4 && columns != 6) reader.refuse("history", "must have 4 or 6 columns");
  for (std::size_t i = 0; i < history->values.size(); i += columns) {
    const double* p = history->values.data() + i;
    if (!(p[0] >= 0 && p[0] <= 0x1p53)) reader.refuse("history", "has an iteration that is not a count");
    if (columns == 6 && !(p[5] >= 0 && p[5] <= 0x1p53))
      reader.refuse("history", "has a learner that is no number of one");
    model.history.push_back({static_cast<std::int64_t>(p[0]), p[1], p[2], p[3]});
    if (columns == 4) continue;
    model.history.back().step = p[4];
    model.history.back().learner = static_cast<std::int64_t>(p[5]);
  }
}

std::optional<FieldConflict> settle(const Model& model, Options& settings) {
  if (model.encoder != nullptr && model.encoder->label_unit().has_value())
    count_in_deviations(settings, *model.encoder->label_unit());
  settings.target_scale = model.target_scale;
  if (auto found = conflict_of(model, settings)) return found;
  // What the model says of itself is in the units of its labels, and its own lambda too.
  settings.label_unit.reset();
  settings.target_scale.reset();
  if (model.lambda.has_value() && settings.lambda.has_value()) settings.lambda = model.lambda;
  // Of rows with named columns the encoder standardises; what is left is the unit of a regression's targets.
  if (model.encoder != nullptr && !model.target_scale.has_value()) settings.standardize = false;
  return std::nullopt;
}

Options settings_of(const Model& model) {
  Options settings = parse_options(model.options);
  if (const auto found = settle(model, settings))
    throw Error(ErrorKind::malformed,
                "malformed margin_model: field \"" + std::string(found->field) + "\" " + found->problem,
                "Use models as train_margin returned them.");
  return settings;
}

Model decoded(Datum composite) {
  MemoryContext caller = CurrentMemoryContext;
  MemoryContext temporary =
      backend([] { return AllocSetContextCreate(CurrentMemoryContext, "margin model", ALLOCSET_DEFAULT_SIZES); });
  MemoryContextSwitchTo(temporary);
  Model model = read_model(composite);
  MemoryContextSwitchTo(caller);
  MemoryContextDelete(temporary);
  return model;
}

double bytes_of(const Model& m) {
  double bytes = 8.0 * static_cast<double>(m.weights.size() + m.intercept.size());
  if (m.dual_weights.has_value()) bytes += 8.0 * static_cast<double>(m.dual_weights->size());
  if (m.dual_point != nullptr) bytes += 8.0 * static_cast<double>(m.dual_point->offset.size());
  if (m.dual_point != nullptr && m.dual_point->curvature != nullptr)
    for (const CurvedPoint& p : *m.dual_point->curvature) bytes += p.bytes();
  if (m.encoder != nullptr) bytes += m.encoder->bytes();
  for (const std::string& name : m.classes) bytes += 128 + static_cast<double>(name.size());
  if (const auto* vectors = support_vectors_of(m.basis.get()))
    bytes += vectors->rows().bytes() + vectors->rows().kernel().bytes();
  return bytes;
}

}  // namespace margin::pg
