#include "pg/values/model_datum.hpp"

#include <algorithm>

#include "core/certificate/ball.hpp"
#include "core/consequences/where/ellipsoid.hpp"
#include "core/data/stump_basis.hpp"
#include "core/train/compaction.hpp"
#include "pg/server/interrupts.hpp"
#include "pg/values/features.hpp"
#include "pg/values/jsonb.hpp"
#include "pg/values/kernel_model.hpp"

namespace margin::pg {

ClassIndex::ClassIndex(const std::vector<std::string>& classes) : classes_(classes) {
  for (std::size_t c = 0; c < classes.size(); ++c) index_.emplace(classes[c], static_cast<std::int32_t>(c));
}

std::int32_t ClassIndex::find(std::string_view name) const {
  const auto found = index_.find(name);
  if (found != index_.end()) return found->second;
  constexpr std::size_t most = 20;
  std::string known;
  for (std::size_t c = 0; c < classes_.size() && c < most; ++c) known += (c == 0 ? "\"" : ", \"") + classes_[c] + "\"";
  if (classes_.size() > most) known += " and " + std::to_string(classes_.size() - most) + " more";
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
  InterruptProgress progress;
  const std::int32_t width = solved_width(data, settings, progress);
  if (8 * outputs * width <= MaxAllocSize) return;
  throw Error(ErrorKind::limit_exceeded,
              "a model of " + std::to_string(width) + " features and " +
                  (classes > 0 ? std::to_string(classes) + " classes" : std::string("one target")) +
                  " would be larger than the 1 GB that one value can hold",
              "Hash the features into fewer columns, or look for a row with a mistyped index.");
}

namespace {

/// One row per output: W, the slack, how far the point may be off, the offset of its intercept; then those of its weights,
/// where they matter. A last row has what W is beyond that, how far both together may be off, and zeros.
Datum ball_datum(const DualPoint& point) {
  const Weights& offset = point.offset;
  const auto outputs = static_cast<std::size_t>(point.intercept.size());
  std::vector<double> table;
  for (std::size_t o = 0; o < outputs; ++o) {
    const std::size_t own = point.slack.size() == 1 ? 0 : o;
    const auto row = static_cast<Eigen::Index>(o);
    table.insert(table.end(), {point.total_weight.value(), point.slack[own], point.error[own], point.intercept(row)});
    if (offset.size() > 0) table.insert(table.end(), offset.row(row).data(), offset.row(row).data() + offset.cols());
  }
  const std::size_t columns = table.size() / outputs;
  table.insert(table.end(), {point.total_weight.rest(), point.total_weight.error()});
  table.resize((outputs + 1) * columns);
  return float8_matrix(table.data(), outputs + 1, columns);
}

/// One row per output: W, N, and what the matrices and the gradient may be off by; then the gradient and the four matrices.
Datum curvature_datum(const std::vector<CurvedPoint>& outputs) {
  const std::size_t n = outputs.front().size(), columns = 4 + n + 4 * outputs.front().metric.size();
  if (8.0 * static_cast<double>(columns) * static_cast<double>(outputs.size()) > static_cast<double>(MaxAllocSize))
    throw Error(ErrorKind::limit_exceeded,
                "the curvature of " + std::to_string(outputs.size()) +
                    " outputs would be larger than the 1 GB that one value can hold",
                "Fewer features make it smaller.");
  double* to = nullptr;
  const Datum table = float8_matrix(outputs.size(), columns, &to);
  for (const CurvedPoint& p : outputs) {
    for (const double number : {p.total_weight, p.reach, p.matrix_error, p.gradient_error}) *to++ = number;
    for (const auto* part : {&p.gradient, &p.metric, &p.middle, &p.spread, &p.bent})
      to = std::copy(part->begin(), part->end(), to);
  }
  return table;
}

/// As read_stumps (model_terms.cpp) reads them.
void set_trees(CompositeBuilder& out, const StumpBasis& basis) {
  std::vector<double> table;
  for (const Tree& tree : basis.trees()) {
    table.insert(table.end(), {tree.split.feature + 1.0, tree.split.threshold});
    if (basis.depth() == 1) continue;
    for (const TreeSide& side : {tree.below, tree.above})
      if (side.feature < 0)
        table.insert(table.end(), {0.0, side.above});
      else
        table.insert(table.end(), {side.above * (side.feature + 1.0), side.threshold});
  }
  out.set("stumps", FLOAT8ARRAYOID, float8_matrix(table.data(), basis.trees().size(), basis.depth() == 1 ? 2 : 6));
}

}  // namespace

Datum model_datum(FunctionCallInfo fcinfo, const Model& model, std::string_view status) {
  return model_datum(CompositeBuilder(fcinfo), model, status);
}

Datum model_datum(CompositeBuilder out, const Model& model, std::string_view status) {
  if (!model.solver.empty()) out.set_text("solver", model.solver);
  if (!model.loss.empty()) out.set_text("loss", model.loss);
  out.set_float8("norm", model.norm);
  out.set_float8("lambda", model.lambda);
  if (!status.empty()) out.set_text("status", status);
  if (status.empty() && model.status.has_value()) out.set_text("status", status_name(*model.status));
  if (!model.regression()) out.set("classes", TEXTARRAYOID, text_array(model.classes));
  const auto outputs = static_cast<std::size_t>(model.outputs()), d = static_cast<std::size_t>(model.terms());
  out.set("weights", FLOAT8ARRAYOID,
          outputs == 1 ? float8_array(model.weights.data(), d) : float8_matrix(model.weights.data(), outputs, d));
  out.set("intercept", FLOAT8ARRAYOID,
          float8_array(model.intercept.data(), static_cast<std::size_t>(model.intercept.size())));
  const Certificate& c = model.certificate;
  if (model.interpolates()) {
    out.set_float8("margin_lower", c.slack);
  } else if (model.hard_margin()) {
    out.set_float8("margin_lower", c.lower);
    out.set_float8("margin_upper", c.upper);
  }
  // Of a hard margin the model's own value, the primal one, is the lower bound: the margin is as large as possible.
  out.set_float8("primal", model.about_margin() ? c.lower : c.upper);
  out.set_float8("dual", model.about_margin() ? c.upper : c.lower);
  out.set_float8("gap", c.gap);
  out.set_int8("iterations", model.iterations);
  out.set_int8("rows", model.rows);
  out.set_int8("skipped", model.skipped);
  out.set_int4("dimensions", model.dimensions);
  if (!model.columns.empty()) {
    std::vector<std::int32_t> columns(model.columns);
    for (std::int32_t& feature : columns) ++feature;
    out.set("columns", INT4ARRAYOID, integer_array(columns));
  }
  set_kernel(out, model.basis.get());
  if (model.encoder != nullptr) out.set("encoder", JSONBOID, jsonb_from(model.encoder->to_value()));
  if (c.support >= 0) out.set_int8("support", c.support);
  out.set_float8("seconds", model.seconds);
  out.set("options", JSONBOID, jsonb_from(model.options));
  if (!model.history.empty()) {
    const bool steps =
        std::any_of(model.history.begin(), model.history.end(), [](const TracePoint& p) { return p.learner > 0; });
    std::vector<double> points;
    for (const TracePoint& p : model.history) {
      points.insert(points.end(), {static_cast<double>(p.iteration), p.seconds, p.lower, p.upper});
      if (steps) points.insert(points.end(), {p.step, static_cast<double>(p.learner)});
    }
    out.set("history", FLOAT8ARRAYOID, float8_matrix(points.data(), model.history.size(), steps ? 6 : 4));
  }
  if (model.dual_weights.has_value()) {
    const Weights& q = *model.dual_weights;
    const auto n = static_cast<std::size_t>(q.rows()), k = static_cast<std::size_t>(q.cols());
    out.set("dual_weights", FLOAT8ARRAYOID, k == 1 ? float8_array(q.data(), n) : float8_matrix(q.data(), n, k));
  }
  if (model.dual_point != nullptr) {
    out.set("ball", FLOAT8ARRAYOID, ball_datum(*model.dual_point));
    if (const auto& curvature = model.dual_point->curvature)
      out.set("curvature", FLOAT8ARRAYOID, curvature_datum(*curvature));
  }
  if (model.prices.has_value()) {
    const Eigen::Index more = model.constraint_prices.has_value() ? model.constraint_prices->cols() : 0;
    Weights all(model.prices->rows(), model.prices->cols() + more);
    all.leftCols(model.prices->cols()) = *model.prices;
    if (more > 0) all.rightCols(more) = *model.constraint_prices;
    const auto columns = static_cast<std::size_t>(all.cols());
    out.set("prices", FLOAT8ARRAYOID,
            outputs == 1 ? float8_array(all.data(), columns) : float8_matrix(all.data(), outputs, columns));
  }
  if (const auto* basis = stumps_of(model.basis.get())) set_trees(out, *basis);
  out.set_float8("target_center", model.target_center);
  out.set_float8("target_scale", model.target_scale);
  if (!model.calibration.empty()) {
    const std::vector<double> table = to_table(model.calibration);
    const std::size_t columns = model.calibration.knots.empty() ? 2 : 3;
    out.set("calibration", FLOAT8ARRAYOID, float8_matrix(table.data(), table.size() / columns, columns));
  }
  return out.finish();
}

Row fitted(const Model& model, const Row& x) {
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

void checked_scores(const Model& model, const Scorer& scorer, const Row& row, double* scores) {
  const Row x = fitted(model, row);
  // A stump or a kernel may turn a NaN into a number, and a feature without a weight is not looked at.
  if (model.basis != nullptr || !model.columns.empty()) require_finite(x, "WHERE");
  score(scorer, x, model.dimensions, scores);
  // A NaN or an infinity among the features cannot hide from the sums: only then is the row looked at again.
  bool finite = true;
  for (std::int32_t o = 0; o < scorer.outputs; ++o) finite &= std::isfinite(scores[o]);
  if (finite) return;
  require_finite(x, "WHERE");
}

std::string_view argument_key(Datum& value) {
  auto* raw = reinterpret_cast<varlena*>(DatumGetPointer(value));
  // Anything else that is external is a pointer into memory, whose content may change under the same pointer.
  if (VARATT_IS_EXTERNAL(raw) && !VARATT_IS_EXTERNAL_ONDISK(raw)) {
    raw = backend([=] { return pg_detoast_datum(raw); });
    value = PointerGetDatum(raw);
  }
  return {reinterpret_cast<const char*>(raw), VARSIZE_ANY(raw)};
}

Value::Object initial_from(Datum composite) {
  const Model model = read_model(composite);
  if (model.basis != nullptr)
    throw Error(ErrorKind::unsupported, "option \"initial\" requires a model that is linear in its features",
                "Give a model without a kernel and without stumps.");
  auto array = [](const std::vector<double>& values) {
    Value::Array out(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) out[i].data = values[i];
    return Value{std::move(out)};
  };
  const InitialModel start = start_from(model);
  Value::Object object;
  object["weights"] = array(start.weights);
  object["intercept"] = array(start.intercept);
  if (!start.dual_weights.empty()) object["dual_weights"] = array(start.dual_weights);
  if (model.encoder != nullptr) object["encoder"] = Value{model.encoder->to_value()};
  if (model.columns.empty()) return object;
  std::vector<double> columns;
  for (const std::int32_t j : model.columns) columns.push_back(j + 1.0);
  object["columns"] = array(columns);
  object["dimensions"].data = static_cast<double>(model.dimensions);
  return object;
}

}  // namespace margin::pg
