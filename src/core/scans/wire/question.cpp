#include "core/scans/wire/question.hpp"

#include <cmath>
#include <cstring>

#include "core/base/bytes.hpp"
#include "core/loss/joint.hpp"
#include "core/scans/wire/answer.hpp"

namespace margin {

namespace {

constexpr std::uint32_t question_magic = 0x3951544dU;  // "MTQ9"
constexpr std::size_t most_steps = 64, most_edges = 16384, most_groups = 4096, most_rings = 64, most_constraints = 1000;

/// Calls archive(part) for every part but the statement and the strings of `class_names`.
template <class Archive, class Q>
void exchange(Archive& archive, Q& q) {
  archive(q.kind);
  archive(q.outcome);
  archive(q.column_center);
  archive(q.column_scale);
  archive(q.dimensions);
  archive(q.columns);
  archive(q.steps);
  archive(q.curvature);
  archive(q.spread);
  archive(q.sums);
  archive(q.search);
  archive(q.group_features);
  archive(q.groups);
  archive(q.group_class);
  archive(q.rings);
  archive(q.bag_rows);
  archive(q.bag_bytes);
  archive(q.bag_small);
  archive(q.parts);
  archive(q.seed);
}

template <class Matrix>
void write_numbers(ByteWriter& out, const Matrix& m) {
  out.sized(m.data(), static_cast<std::size_t>(m.size()), 8);
}

template <class Matrix>
void read_numbers(ByteReader& in, Matrix& m, Eigen::Index rows, Eigen::Index columns, bool optional) {
  const std::size_t size = in.count(8);
  if (optional && size == 0) return;
  in.require(size == static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns), "vectors of another shape");
  m.resize(rows, columns);
  in.raw(m.data(), 8 * size);
  in.require(m.allFinite(), "a number of a vector is not finite");
}

void require_groups(const Question& q, const ByteReader& in) {
  in.require(q.group_features.empty() || q.kind == Question::Kind::summary, "groups without a summary");
  in.require(q.group_features.empty() ? q.groups.empty() && q.group_class.empty()
                                      : q.groups.size() % q.group_features.size() == 0,
             "groups of other features");
  in.require(q.group_features.empty() || !q.sums, "groups beside other sums");
  in.require(q.group_features.size() <= most_groups && q.group_count() <= most_groups, "too many groups");
  for (const std::int32_t j : q.group_features)
    in.require(j >= 0 && j < q.width(), "a group of a feature that there is not");
  for (const double v : q.groups) in.require(std::isfinite(v), "a group of no number");
}

/// One output of a loss whose third derivative has a bound, with nothing that holds the weights.
bool sound_likelihood(const Question& q) {
  return q.likelihood() && q.loss->self_concordance() < std::numeric_limits<double>::infinity() && q.outputs() == 1 &&
         q.plain_penalty() && q.intercept_scale == 1 && q.width() < Answer::most_matrix_columns;
}

/// Classes that are trained jointly: nothing but the squares of the weights, and no more pairs of classes than a scan counts flows
/// between.
bool sound_joint(const Question& q) {
  return q.task == Task::multiclass && q.lambda > 0 && q.l1_ratio == 0 && q.penalty_factor.empty() &&
         q.least_factor == 1 && q.bounds.empty() && q.constraints.empty() && q.offset < 0 && q.rings.empty() &&
         !q.curvature && (!q.free_intercept || q.class_names.size() <= most_flow_classes);
}

/// What a check of such a risk knows (certificate/risk_one_class.cpp).
bool sound_one_class(const Question& q) {
  return q.task == Task::binary && q.lambda > 0 && q.intercept && q.free_intercept && q.l1_ratio == 0 &&
         q.penalty_factor.empty() && q.least_factor == 1 && q.bounds.empty() && q.constraints.empty() && q.offset < 0 &&
         q.class_weight.empty();
}

void require_sound(const Question& q, const ByteReader& in) {
  in.require(q.kind <= Question::Kind::interpolation, "an unknown kind of question");
  in.require(q.outcome == Dataset::Outcome::classes || q.outcome == Dataset::Outcome::targets ||
                 q.outcome == Dataset::Outcome::intervals,
             "an unknown kind of label");
  // What a sum of terms can answer: see require_plain of scans/model_question.cpp.
  in.require(q.learners == Learners::features, "a problem that is none of scans");
  in.require(q.offset < 0 || (q.kind == Question::Kind::summary
                                  ? q.outcome == Dataset::Outcome::targets
                                  : q.kind == Question::Kind::risk && q.offset < q.width() && q.outputs() == 1),
             "an offset that is none of its rows");
  in.require((q.bounds.empty() && q.constraints.empty()) || q.kind == Question::Kind::risk,
             "bounds or constraints without a risk");
  // What a quadratic program of them takes follows from both.
  in.require(
      q.constraints.empty() || (q.width() < Answer::most_matrix_columns && q.constraints.count() <= most_constraints),
      "too many constraints, or on too many features");
  for (const std::int32_t j : q.constraints.rows.feature)
    in.require(j < q.width(), "a constraint on a feature that there is not");
  in.require(q.dimensions >= 0 && q.bag_rows >= 0 && q.bag_bytes >= 0 && q.bag_small >= 0, "a size is negative");
  in.require(q.bag_small == 0 || q.kind == Question::Kind::summary, "a sample of a risk");
  in.require(q.parts >= 1 && q.parts <= most_parts, "a bad number of parts");
  std::int32_t last = -1;
  for (const std::int32_t column : q.columns) {
    in.require(column > last && column < q.dimensions, "columns that do not ascend");
    last = column;
  }
  in.require(q.class_names.size() <= most_classes,
             "too many classes");  // of a margin each has a number with each
  const auto d = static_cast<std::size_t>(q.width());
  in.require(q.column_scale.size() == q.column_center.size() && (q.column_scale.empty() || q.column_scale.size() == d),
             "scales of other columns");
  for (const double v : q.column_scale) in.require(v > 0 && std::isfinite(v), "a bad scale of a column");
  for (const double v : q.column_center) in.require(std::isfinite(v), "a bad centre of a column");
  in.require(!q.spread || (q.kind == Question::Kind::risk && q.curvature && q.likelihood()),
             "a spread of slopes that is none of a likelihood");
  in.require(q.steps.size() <= most_steps, "too many steps");
  for (const double v : q.steps) in.require(std::isfinite(v), "a bad step");
  in.require(q.search.empty() || (q.search.size() == 3 && std::isfinite(q.search[0]) && std::isfinite(q.search[2]) &&
                                  q.search[0] <= q.search[1] && q.search[1] <= q.search[2] &&
                                  q.kind == Question::Kind::summary && q.outcome == Dataset::Outcome::targets),
             "a search that is none of targets");
  require_groups(q, in);
  if (q.kind == Question::Kind::summary) {
    in.require(q.class_names.empty() && q.classes == 0 && q.loss == nullptr && q.class_weight.empty(),
               "a summary that knows the classes");
    return;
  }
  in.require(q.dimensions > 0, "no features");
  const bool classes = q.outcome == Dataset::Outcome::classes;
  in.require(classes == (q.class_names.size() >= 2) && (classes || q.class_names.empty()),
             "classes and labels contradict each other");
  in.require(static_cast<std::size_t>(q.classes) == q.class_names.size() &&
                 q.task == (!classes                    ? Task::regression
                            : q.class_names.size() == 2 ? Task::binary
                                                        : Task::multiclass),
             "the statement is of other classes");
  in.require(q.outcome != Dataset::Outcome::intervals || q.kind == Question::Kind::interpolation,
             "intervals are for interpolation");
  const auto outputs = static_cast<std::size_t>(q.outputs());
  in.require(q.rings.empty() || (q.kind == Question::Kind::risk && q.rings.size() <= most_rings * outputs &&
                                 q.rings.size() % outputs == 0),
             "rings that are none of a risk");
  for (const double edge : q.rings) in.require(edge >= 0, "a bad edge of a ring");
  in.require(q.interpolate == (q.kind == Question::Kind::interpolation), "targets that are met, or are not");
  in.require((q.kind == Question::Kind::risk) == (q.loss != nullptr), "a loss where nothing is traded, or none");
  if (q.kind == Question::Kind::risk)
    in.require((q.lambda > 0 || sound_likelihood(q)) && (!q.one_class() || sound_one_class(q)) &&
                   (joint_of(q.loss.get()) == nullptr || sound_joint(q)),
               "a risk that is none of scans");
  else
    in.require((q.kind == Question::Kind::margin) == classes, "a margin of targets");
}

}  // namespace

std::string Question::bytes() const {
  ByteWriter out;
  out(question_magic);
  write(out);
  exchange(out, *this);
  out(static_cast<std::uint64_t>(class_names.size()));
  for (const std::string& c : class_names) out(c);
  write_numbers(out, weights);
  write_numbers(out, intercepts);
  write_numbers(out, direction);
  write_numbers(out, intercept_direction);
  out(static_cast<std::uint64_t>(beside.size()));
  for (const Question& other : beside) out(other.bytes());
  return std::move(out.bytes());
}

Question Question::from_bytes(std::string_view bytes) { return read(bytes, true); }

Question Question::read(std::string_view bytes, bool alone) {
  ByteReader in(bytes, "margin_question");
  std::uint32_t first;
  in(first);
  in.require(first == question_magic, "bad magic number");
  Question q;
  static_cast<Statement&>(q) = Statement::read(in);
  exchange(in, q);
  q.class_names.resize(in.count(8));
  for (std::string& c : q.class_names) in(c);
  require_sound(q, in);
  const bool iterate = q.kind != Kind::summary;
  const Eigen::Index outputs = iterate ? q.outputs() : 0, d = iterate ? q.width() : 0;
  read_numbers(in, q.weights, outputs, d, false);
  Weights column;
  read_numbers(in, column, outputs, 1, false);
  q.intercepts = column.col(0);
  read_numbers(in, q.direction, outputs, d, true);
  column.resize(0, 1);
  read_numbers(in, column, outputs, 1, true);
  if (column.size() > 0) q.intercept_direction = column.col(0);
  in.require(q.steps.empty() || (q.direction.size() > 0 && q.intercept_direction.size() > 0),
             "steps without direction");
  in.require((q.direction.size() > 0) == (q.intercept_direction.size() > 0), "half a direction");
  const std::size_t more = in.count(8);
  in.require(more < most_beside, "too many questions");
  in.require(alone || more == 0, "questions beside one that is beside another");
  std::string other;
  for (std::size_t k = 0; k < more; ++k) {
    in(other);
    q.beside.push_back(read(other, false));
    in.require(q.shares_terms(q.beside.back()), "questions that no term answers together");
  }
  in.finish();
  return q;
}

bool Question::shares_terms(const Question& other) const {
  return kind == Kind::risk && other.kind == Kind::risk && other.beside.empty() && outcome == other.outcome &&
         class_names == other.class_names && column_center == other.column_center &&
         column_scale == other.column_scale && dimensions == other.dimensions && columns == other.columns &&
         intercept_column() == other.intercept_column() && bag_rows == other.bag_rows && bag_bytes == other.bag_bytes &&
         parts == other.parts;
}

std::string group_label(const std::vector<double>& values) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const double v : values) {
    std::uint64_t bits;
    std::memcpy(&bits, &v, sizeof bits);
    for (int shift = 60; shift >= 0; shift -= 4) text += digits[bits >> shift & 15];
  }
  return text;
}

std::vector<double> group_values(std::string_view label) {
  constexpr std::size_t width = 16;
  std::vector<double> values;
  if (label.size() % width != 0) return values;
  for (std::size_t at = 0; at < label.size(); at += width) {
    std::uint64_t bits = 0;
    for (const char c : label.substr(at, width)) {
      const bool digit = c >= '0' && c <= '9', letter = c >= 'a' && c <= 'f';
      if (!digit && !letter) return {};
      bits = bits << 4 | static_cast<std::uint64_t>(digit ? c - '0' : c - 'a' + 10);
    }
    double v;
    std::memcpy(&v, &bits, sizeof v);
    if (!std::isfinite(v)) return {};
    values.push_back(v);
  }
  return values;
}

}  // namespace margin
