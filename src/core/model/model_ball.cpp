#include "core/model/model_ball.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/math/rounding.hpp"
#include "core/problem/penalty.hpp"

namespace margin {

Objective penalty_of(const Model& model, const Options& options) {
  Objective o;
  o.task = model.task;
  o.classes = static_cast<std::int32_t>(model.classes.size());
  o.dimensions = model.terms();
  // Of two classes that were trained jointly: on the difference of their weights (problem/problem.cpp).
  o.lambda = model.lambda.value_or(0) * (options.multiclass == Multiclass::joint && model.outputs() == 1 ? 0.5 : 1.0);
  o.l1_ratio = options.l1_ratio;
  o.least_factor = std::min(1.0, least_penalty_factor(options));
  o.intercept = options.intercept;
  o.free_intercept = options.free_intercept();
  o.intercept_scale = options.intercept_scale;
  return o;
}

double distance_to_optimum(const Model& model, const Options& options, double gap) {
  const Objective o = penalty_of(model, options);
  if (model.basis != nullptr || model.dual_point == nullptr) return ball_radius(2 * gap, convexity(o), 0);
  return Ball(o, model.weights.data(), model.intercept.data(), gap, model.dual_point.get()).distance();
}

std::string without_ball(const Model& model, const Options& options) {
  if (model.one_class()) return "it is a one-class machine";
  if (model.hard_margin())
    return "it has no lambda: its certificate is about a margin, not about where the weights are";
  if (model.likelihood()) return "its lambda is 0: nothing but the rows holds the weights";
  if (model.basis != nullptr) return "its weights are not those of features";
  if (options.standardize || model.target_scale.value_or(1) != 1)
    return "its certificate is in standardised units, which only the training rows know";
  if (std::isnan(model.certificate.gap)) return "its gap is NULL";
  return {};
}

void refuse_model(const std::string& function, const std::string& reason, const std::string& hint) {
  const char* const otherwise =
      "Train with a lambda, without a kernel and without standardize (features of another scale can be scaled in SQL; "
      "those "
      "of rows with named columns are scaled by the model).";
  throw Error(ErrorKind::unsupported, function + " does not take this model: " + reason,
              hint.empty() ? otherwise : hint);
}

Row OwnColumns::place(const Row& x) {
  all_ = true;
  if (own_->empty()) return x;
  values_.clear();
  indices_.clear();
  const std::vector<std::int32_t>& own = *own_;
  auto from = own.begin();
  for (std::int32_t k = 0; k < x.count; ++k) {
    const std::int32_t feature = x.indices != nullptr ? x.indices[k] : k;
    from = std::lower_bound(from, own.end(), feature);
    if (from == own.end() || *from != feature) {
      all_ = all_ && x.value(k) == 0;
      continue;
    }
    indices_.push_back(static_cast<std::int32_t>(from - own.begin()));
    values_.push_back(x.value(k));
  }
  return sparse_row(indices_.data(), values_.data(), static_cast<std::int32_t>(values_.size()), 0);
}

std::vector<double> curved_place(const Model& m, std::int32_t output, double constant) {
  std::vector<double> z(m.weights.row(output).data(), m.weights.row(output).data() + m.terms());
  if (constant > 0) z.push_back((m.intercept(output) - m.target_center.value_or(0)) / constant);
  return z;
}

ScoreIntervals::ScoreIntervals(const Model& model, const Options& options, const Progress& progress)
    : model_(&model), columns_(model) {
  const std::string name = model.outputs() == 1 ? "margin_score_interval" : "margin_score_intervals";
  const std::string reason = without_ball(model, options);
  if (!reason.empty()) refuse_model(name, reason);
  if (options.l1_ratio == 1)
    refuse_model(name, "with an l1_ratio of 1 other weights may be as good, however far they are",
                 "Give an l1_ratio below 1.");
  if (options.free_intercept())
    refuse_model(name, "its intercept is free, and no penalty holds it near where it is",
                 "Train with intercept => 'penalized'; a large intercept_scale makes that penalty small.");
  ball_.emplace(penalty_of(model, options), model.weights.data(), model.intercept.data(), model.certificate.gap,
                model.dual_point.get());
  if (model.dual_point == nullptr || model.dual_point->curvature == nullptr) return;
  const Objective o = penalty_of(model, options);
  for (std::int32_t k = 0; k < model.outputs(); ++k)
    ellipsoids_.emplace_back((*model.dual_point->curvature)[static_cast<std::size_t>(k)],
                             curved_place(model, k, o.constant_feature()), o.lambda, o.constant_feature(), progress);
}

bool ScoreIntervals::intervals(const Row& x, double* lower, double* upper, const Progress& progress) {
  const Row own = columns_.place(x);
  ball_->scores(own, lower, upper);
  bool certain = !model_->regression() && ball_->certain(own);
  if (ellipsoids_.empty()) return certain;
  const auto k = static_cast<std::size_t>(model_->outputs());
  const double center = model_->target_center.value_or(0);
  for (std::size_t o = 0; o < k; ++o) {
    if (!ellipsoids_[o].holds()) continue;
    double low = 0, high = 0;
    ellipsoids_[o].score(own, &low, &high, progress);
    const double rounding = center != 0 ? 2 * epsilon * (std::fabs(center) + std::fabs(low) + std::fabs(high)) : 0.0;
    lower[o] = std::max(lower[o], low + center - rounding);
    upper[o] = std::min(upper[o], high + center + rounding);
  }
  if (model_->regression() || certain) return certain;
  // Unlike a ball, an ellipsoid need not hold the weights of the model: the optimum may be certain of another class.
  own_.resize(k);
  for (std::size_t o = 0; o < k; ++o)
    own_[o] = dot(own, model_->weights.row(static_cast<Eigen::Index>(o)).data()) +
              model_->intercept(static_cast<Eigen::Index>(o));
  const auto own_class = static_cast<std::size_t>(decide(static_cast<std::int32_t>(k), own_.data()));
  if (k == 1) return own_class == 1 ? lower[0] > 0 : upper[0] < 0;
  bool ahead = true;
  for (std::size_t o = 0; o < k; ++o) ahead = ahead && (o == own_class || lower[own_class] > upper[o]);
  return ahead;
}

IntervalAt gap_at(const Model& model, const Options& options, double lambda) {
  const std::string name = "margin_gap_at", reason = without_ball(model, options);
  if (!reason.empty()) refuse_model(name, reason);
  if (options.l1_ratio > 0) refuse_model(name, "its penalty has an l1 norm", "Train without l1_ratio.");
  if (!options.offset.empty())
    refuse_model(name, "it has an offset, whose weight no lambda moves", "Train at that lambda as well.");
  if (!(lambda > 0 && std::isfinite(lambda)))
    throw Error(ErrorKind::invalid_value, "lambda is " + describe(Value{lambda}) + ", expected a positive number");
  const Objective o = penalty_of(model, options);
  const double from = o.lambda, to = lambda / *model.lambda * o.lambda;
  const double P = model.certificate.upper, D = std::max(0.0, model.certificate.lower);
  if (!std::isfinite(P) || std::isnan(D))
    refuse_model(name, "its primal or its dual is NULL", "Use models as trained.");
  // ‖(w, b/B)‖ and, between two ends, ‖(v, v_b)‖.
  double weights = model.weights.norm(), point = 0, error = 0;
  const double constant = o.constant_feature();
  for (Eigen::Index k = 0; k < model.weights.rows(); ++k) {
    const double b = model.intercept(k) - model.target_center.value_or(0);
    if (constant > 0) weights = std::hypot(weights, b / constant);
    if (model.dual_point == nullptr) continue;
    const DualPoint& known = *model.dual_point;
    const double part =
        known.offset.size() > 0 ? (model.weights.row(k) + known.offset.row(k)).norm() : model.weights.row(k).norm();
    point = std::hypot(point, part);
    if (constant > 0) point = std::hypot(point, (b + known.intercept(k)) / constant);
  }
  if (model.dual_point != nullptr) {
    for (const double e : model.dual_point->error) error = std::hypot(error, e);
  } else {
    point = weights;
    error = ball_radius(2 * std::max(model.certificate.gap, P - D), convexity(o), 0);  // the gap holds (λ/2)‖w − v‖²
  }
  const double rounding = epsilon * (static_cast<double>(model.weights.size()) + 64);
  // Sums that rounded differently, and offsets that were added to weights.
  error = (error + rounding * (point + 2 * weights)) * (1 + rounding);

  IntervalAt out;
  const double penalty = weights * weights / 2;
  out.upper = P + (to - from) * penalty;
  out.upper += rounding * (P + (to + from) * penalty) + tiny;
  const auto at = [&](double share) {
    const double factor = share * from / 2 - share * share * from / (2 * to) * from;
    const double end = factor > 0 ? std::max(0.0, point - error) : point + error;
    const double lower = share * D + factor * end * end;
    const double size = share * D + (share * from + share * share * from / to * from) * end * end;
    return lower - rounding * size - tiny;
  };
  const double square = point * point, all = D + from / 2 * square;
  const double best = square > 0 ? all / from * (to / from) / square : 1.0;
  out.lower = std::max(at(1), best < 1 ? at(best) : 0.0);
  if (!(out.lower > 0)) out.lower = 0;
  if (!(out.upper >= out.lower)) out.upper = out.lower;
  if (!std::isfinite(out.upper)) out.upper = infinity;
  return out;
}

}  // namespace margin
