#include "core/scans/question.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/bytes.hpp"
#include "core/loss/loss.hpp"

namespace margin {

namespace {

constexpr std::uint32_t magic = 0x3351544dU;  // "MTQ3"
constexpr std::size_t most_steps = 64, most_classes = 4096;

/// Calls archive(part) for every part but the strings of `classes`.
template <class Archive, class Q>
void exchange(Archive& archive, Q& q) {
  archive(q.kind);
  archive(q.outcome);
  archive(q.loss);
  archive(q.epsilon);
  archive(q.smoothing);
  archive(q.quantile);
  archive(q.lambda);
  archive(q.l1_ratio);
  archive(q.norm);
  archive(q.intercept);
  archive(q.free_intercept);
  archive(q.intercept_scale);
  archive(q.class_weight);
  archive(q.target_center);
  archive(q.target_scale);
  archive(q.column_center);
  archive(q.column_scale);
  archive(q.dimensions);
  archive(q.columns);
  archive(q.steps);
  archive(q.curvature);
  archive(q.sums);
  archive(q.bag_rows);
  archive(q.bag_bytes);
  archive(q.seed);
}

template <class Matrix>
void write(ByteWriter& out, const Matrix& m) {
  out.sized(m.data(), static_cast<std::size_t>(m.size()), 8);
}

template <class Matrix>
void read(ByteReader& in, Matrix& m, Eigen::Index rows, Eigen::Index columns, bool optional) {
  const std::size_t size = in.count(8);
  if (optional && size == 0) return;
  in.require(size == static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns), "vectors of another shape");
  m.resize(rows, columns);
  in.raw(m.data(), 8 * size);
  in.require(m.allFinite(), "a number of a vector is not finite");
}

void require_sound(const Question& q, const ByteReader& in) {
  in.require(q.kind <= Question::Kind::interpolation, "an unknown kind of question");
  in.require(q.outcome == Dataset::Outcome::classes || q.outcome == Dataset::Outcome::targets ||
                 q.outcome == Dataset::Outcome::intervals,
             "an unknown kind of label");
  for (const double v : {q.epsilon, q.smoothing, q.lambda, q.l1_ratio, q.norm, q.intercept_scale, q.target_center})
    in.require(std::isfinite(v), "a number is not finite");
  in.require(q.norm >= 1 && q.norm <= 2, "a bad norm");
  in.require(q.quantile > 0 && q.quantile < 1, "a bad quantile");
  in.require(q.l1_ratio >= 0 && q.l1_ratio < 1 && q.intercept_scale > 0 && q.epsilon >= 0, "a bad option");
  in.require(q.target_scale > 0 && std::isfinite(q.target_scale), "a bad scale of targets");
  in.require(q.dimensions >= 0 && q.bag_rows >= 0 && q.bag_bytes >= 0, "a size is negative");
  std::int32_t last = -1;
  for (const std::int32_t column : q.columns) {
    in.require(column > last && column < q.dimensions, "columns that do not ascend");
    last = column;
  }
  in.require(q.classes.size() <= most_classes, "too many classes");  // of a margin each has a number with each
  const auto d = static_cast<std::size_t>(q.width());
  in.require(q.column_scale.size() == q.column_center.size() && (q.column_scale.empty() || q.column_scale.size() == d),
             "scales of other columns");
  for (const double v : q.column_scale) in.require(v > 0 && std::isfinite(v), "a bad scale of a column");
  for (const double v : q.column_center) in.require(std::isfinite(v), "a bad centre of a column");
  in.require(q.class_weight.empty() || q.class_weight.size() == q.classes.size(), "weights of other classes");
  for (const double v : q.class_weight) in.require(v >= 0 && std::isfinite(v), "a bad weight of a class");
  in.require(q.steps.size() <= most_steps, "too many steps");
  for (const double v : q.steps) in.require(std::isfinite(v), "a bad step");
  if (q.kind == Question::Kind::summary) {
    in.require(q.classes.empty(), "a summary that knows the classes");
    return;
  }
  in.require(q.dimensions > 0, "no features");
  in.require((q.outcome == Dataset::Outcome::classes) == (q.classes.size() >= 2) &&
                 (q.outcome == Dataset::Outcome::classes || q.classes.empty()),
             "classes and labels contradict each other");
  in.require(q.outcome != Dataset::Outcome::intervals || q.kind == Question::Kind::interpolation,
             "intervals are for interpolation");
  if (q.kind == Question::Kind::risk) {
    in.require(q.lambda > 0, "a risk without lambda");
    const auto& names = loss_names();
    in.require(std::find(names.begin(), names.end(), q.loss) != names.end(), "an unknown loss");
    in.require(is_regression_loss(q.loss) == (q.outcome == Dataset::Outcome::targets), "a loss of other labels");
    in.require(q.smoothing > 0, "a bad smoothing");
  } else {
    in.require((q.kind == Question::Kind::margin) == (q.outcome == Dataset::Outcome::classes), "a margin of targets");
  }
}

}  // namespace

Objective Question::objective(const Loss* of) const {
  Objective o;
  o.task = outcome != Dataset::Outcome::classes ? Task::regression : outputs() > 1 ? Task::multiclass : Task::binary;
  o.classes = static_cast<std::int32_t>(classes.size());
  o.dimensions = width();
  o.norm = norm;
  o.interpolate = kind == Kind::interpolation;
  o.loss = of;
  o.lambda = lambda;
  o.l1_ratio = l1_ratio;
  o.intercept = intercept;
  o.free_intercept = free_intercept;
  o.intercept_scale = intercept_scale;
  return o;
}

std::string Question::bytes() const {
  ByteWriter out;
  out(magic);
  exchange(out, *this);
  out(static_cast<std::uint64_t>(classes.size()));
  for (const std::string& c : classes) out(c);
  write(out, weights);
  write(out, intercepts);
  write(out, direction);
  write(out, intercept_direction);
  return std::move(out.bytes());
}

Question Question::from_bytes(std::string_view bytes) {
  ByteReader in(bytes, "margin_question");
  std::uint32_t first;
  in(first);
  in.require(first == magic, "bad magic number");
  Question q;
  exchange(in, q);
  const std::size_t classes = in.count(8);
  q.classes.resize(classes);
  for (std::string& c : q.classes) in(c);
  require_sound(q, in);
  const bool iterate = q.kind != Kind::summary;
  const Eigen::Index outputs = iterate ? q.outputs() : 0, d = iterate ? q.width() : 0;
  read(in, q.weights, outputs, d, false);
  Weights column;
  read(in, column, outputs, 1, false);
  q.intercepts = column.col(0);
  read(in, q.direction, outputs, d, true);
  column.resize(0, 1);
  read(in, column, outputs, 1, true);
  if (column.size() > 0) q.intercept_direction = column.col(0);
  in.require(q.steps.empty() || (q.direction.size() > 0 && q.intercept_direction.size() > 0),
             "steps without direction");
  in.require((q.direction.size() > 0) == (q.intercept_direction.size() > 0), "half a direction");
  in.finish();
  return q;
}

}  // namespace margin
