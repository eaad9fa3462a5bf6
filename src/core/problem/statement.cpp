#include "core/problem/statement.hpp"

#include <algorithm>
#include <cmath>

#include "core/loss/joint.hpp"
#include "core/loss/one_class.hpp"
#include "core/math/rounding.hpp"

namespace margin {

namespace {

constexpr std::uint8_t version = 2;

/// Calls archive(part) for every part but the loss. A member that is not named here does not compile: a structured binding
/// has as many names as there are members.
template <class Archive, class S>
void exchange(Archive& archive, S& statement) {
  auto& [task, classes, norm, learners, interpolate, loss, lambda, l1_ratio, penalty_factor, least_factor, bounds,
         constraints, offset, intercept, free_intercept, intercept_scale, target_center, target_scale, class_weight] =
      statement;
  static_cast<void>(loss);
  archive(task);
  archive(classes);
  archive(norm);
  archive(learners);
  archive(interpolate);
  archive(lambda);
  archive(l1_ratio);
  archive(penalty_factor);
  archive(least_factor);
  archive(bounds.lower);
  archive(bounds.upper);
  archive(constraints.rows.begin);
  archive(constraints.rows.feature);
  archive(constraints.rows.coefficient);
  archive(constraints.lower);
  archive(constraints.upper);
  archive(offset);
  archive(intercept);
  archive(free_intercept);
  archive(intercept_scale);
  archive(target_center);
  archive(target_scale);
  archive(class_weight);
}

void require_sound(const Constraints& c, const ByteReader& in) {
  const SparseRows& rows = c.rows;
  in.require(!rows.begin.empty() && rows.begin.front() == 0 && rows.begin.back() >= 0 &&
                 rows.feature.size() == static_cast<std::size_t>(rows.begin.back()) &&
                 rows.coefficient.size() == rows.feature.size() && c.lower.size() == rows.count() &&
                 c.upper.size() == rows.count() && std::is_sorted(rows.begin.begin(), rows.begin.end()),
             "constraints of another shape");
  for (const std::int32_t j : rows.feature) in.require(j >= 0, "a constraint of no feature");
  for (const double a : rows.coefficient) in.require(std::isfinite(a), "a constraint that is no number");
  for (std::size_t k = 0; k < c.count(); ++k)
    in.require(c.lower[k] <= c.upper[k] && c.lower[k] < infinity && c.upper[k] > -infinity,
               "a constraint that leaves no weight");
}

void require_sound(const Statement& s, const ByteReader& in) {
  in.require(s.task == Task::binary || s.task == Task::multiclass || s.task == Task::regression, "an unknown task");
  in.require(s.learners == Learners::features || s.learners == Learners::stumps || s.learners == Learners::trees,
             "unknown learners");
  in.require(s.classes >= 0 && (s.task != Task::regression || s.classes == 0), "a bad number of classes");
  for (const double v : {s.lambda, s.l1_ratio, s.least_factor, s.intercept_scale, s.target_center, s.target_scale})
    in.require(std::isfinite(v), "a number is not finite");
  in.require(s.norm >= 1 && s.norm <= 2, "a bad norm");
  in.require(s.lambda >= 0 && s.l1_ratio >= 0 && s.l1_ratio <= 1, "a bad lambda or l1_ratio");
  in.require(s.intercept_scale > 0 && s.target_scale > 0 && s.least_factor >= 0, "a bad scale");
  in.require(s.offset >= -1, "a bad offset");
  for (const double v : s.penalty_factor) in.require(v >= 0 && std::isfinite(v), "a bad factor of a penalty");
  in.require(s.bounds.lower.size() == s.bounds.upper.size(), "bounds of other weights");
  for (std::size_t j = 0; j < s.bounds.lower.size(); ++j) {
    const double l = s.bounds.lower[j], u = s.bounds.upper[j];
    in.require(l <= u && l < infinity && u > -infinity, "bounds that leave no weight");
  }
  require_sound(s.constraints, in);
  in.require(s.class_weight.empty() || s.class_weight.size() == static_cast<std::size_t>(s.classes),
             "weights of other classes");
  for (const double v : s.class_weight) in.require(v >= 0 && std::isfinite(v), "a bad weight of a class");
}

}  // namespace

void Bounds::count_in(double unit) {
  for (double& l : lower) l /= unit;
  for (double& u : upper) u /= unit;
}

void Bounds::clip(Weights& weights, std::int32_t known) const {
  if (empty()) return;
  for (Eigen::Index o = 0; o < weights.rows(); ++o)
    for (Eigen::Index j = 0; j < weights.cols(); ++j)
      if (j != known) weights(o, j) = clip(weights(o, j), static_cast<std::size_t>(j));
}

void Bounds::settle(Weights& weights, std::int32_t known) const {
  if (empty()) return;
  clip(weights, known);
  for (Eigen::Index o = 0; o < weights.rows(); ++o)
    for (Eigen::Index j = 0; j < weights.cols(); ++j)
      for (const double end : {least(static_cast<std::size_t>(j)), most(static_cast<std::size_t>(j))})
        if (j != known && std::isfinite(end) && std::fabs(weights(o, j) - end) <= 4 * epsilon * std::fabs(end))
          weights(o, j) = end;
}

void Constraints::count_in(double unit) {
  for (double& l : lower) l /= unit;
  for (double& u : upper) u /= unit;
}

double Constraints::missed(const double* w) const {
  double most = 0;
  for (std::size_t k = 0; k < count(); ++k) {
    const double value = rows.product(k, w), off = std::max(lower[k] - value, value - upper[k]);
    if (!(off > 0) && std::isfinite(value)) continue;
    const double size = rows.size(k, w) + std::fabs(value > upper[k] ? upper[k] : lower[k]);
    most = std::max(most, std::isfinite(value) ? off / size : infinity);
  }
  return most;
}

bool Statement::one_class() const { return one_class_of(loss.get()) != nullptr; }

bool Statement::hold_zeros() const {
  bool all = bounds.hold_zeros();
  for (std::size_t k = 0; k < constraints.count(); ++k)
    all = all && constraints.lower[k] <= 0 && constraints.upper[k] >= 0;
  return all;
}

std::vector<double> Statement::least_weights(std::size_t features) const {
  std::vector<double> w(features, 0.0);
  for (std::size_t j = 0; !bounds.empty() && j < features; ++j) w[j] = bounds.clip(0, j);
  if (offset >= 0) w[static_cast<std::size_t>(offset)] = offset_weight();
  return w;
}

void Statement::write(ByteWriter& out) const {
  out(version);
  exchange(out, *this);
  out(loss == nullptr ? std::string() : std::string(loss->name()));
  if (loss == nullptr) return;
  out(joint_of(loss.get()) != nullptr);
  out(loss->parameters());
}

Statement Statement::read(ByteReader& in) {
  std::uint8_t found;
  in(found);
  in.require(found == version, "a statement of another version");
  Statement s;
  exchange(in, s);
  require_sound(s, in);
  std::string name;
  in(name);
  if (name.empty()) return s;
  bool joint;
  in(joint);
  std::vector<double> parameters;
  in(parameters);
  s.loss = find_loss(name, parameters);
  in.require(s.loss != nullptr, "an unknown loss, or bad parameters of it");
  in.require(!joint || has_joint_form(name), "a loss that has no joint form");
  if (joint) s.loss = joint_form(s.loss);
  in.require(s.loss->classification() == (s.task != Task::regression), "a loss of other labels");
  return s;
}

std::string Statement::bytes() const {
  ByteWriter out;
  write(out);
  return std::move(out.bytes());
}

bool operator==(const Statement& a, const Statement& b) { return a.bytes() == b.bytes(); }

double joint_lambda(double lambda, std::int32_t outputs) { return outputs == 1 ? 0.5 * lambda : lambda; }

}  // namespace margin
