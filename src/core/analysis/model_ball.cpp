#include "core/analysis/model_ball.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/math/rounding.hpp"

namespace margin {

double distance_to_optimum(const Model& model, const Options& options, double gap) {
  const Objective o = objective_of(model, options);
  if (model.basis != nullptr || model.dual_point == nullptr) return ball_radius(2 * gap, convexity(o), 0);
  return Ball(o, model.weights.data(), model.intercept.data(), gap, model.dual_point.get()).distance();
}

void require_known_errors(const Model& model, const Consumer& product) {
  if (model.dual_point != nullptr && !model.dual_point->total_weight.known())
    refuse_model(product, "its attribute ball was made by an earlier build, and does not say what its sums are off by",
                 "Train again.");
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
  require_ball(score_interval_product, model, options);
  ball_.emplace(objective_of(model, options), model.weights.data(), model.intercept.data(), model.certificate.gap,
                model.dual_point.get());
  if (model.dual_point == nullptr || model.dual_point->curvature == nullptr) return;
  const Objective o = objective_of(model, options);
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
  require_ball(gap_at_product, model, options);
  if (!(lambda > 0 && std::isfinite(lambda)))
    throw Error(ErrorKind::invalid_value, "lambda is " + describe(Value{lambda}) + ", expected a positive number");
  const Objective o = objective_of(model, options);
  const double from = o.lambda, to = lambda == *model.lambda ? from : lambda / *model.lambda * o.lambda;
  const double U = model.certificate.upper, L = std::max(0.0, model.certificate.lower);
  if (std::isnan(U) || std::isnan(L))
    refuse_model(gap_at_product, "its primal or its dual is NULL", "Use models as trained.");
  if (!std::isfinite(U)) refuse_model(gap_at_product, "nothing is proven of its rows any more", "Train again.");
  const double constant = o.constant_feature();
  const double rounding = epsilon * (static_cast<double>(model.weights.size()) + 64);
  double weights = model.weights.norm();  // ‖(w, b/B)‖
  for (Eigen::Index k = 0; constant > 0 && k < model.weights.rows(); ++k)
    weights = std::hypot(weights, (model.intercept(k) - model.target_center.value_or(0)) / constant);

  IntervalAt out;
  // In orders in which nothing overflows that is not large itself.
  out.upper = U + (to - from) * weights / 2 * weights;
  if (to != from) out.upper += rounding * (U + (to + from) * weights / 2 * weights) + tiny;
  out.lower = to >= from ? L : L * (to / from) * (1 - 4 * epsilon);
  // Of an a with D(a) ≥ `value`, whose ‖(v, v_b)‖ is within `error` of `point`.
  const auto take = [&](double value, double point, double error) {
    const double low = std::max(0.0, point - error), high = point + error;
    const auto at = [&](double share) {
      const double factor = share * from / 2 - share * share * from / (2 * to) * from;
      const double end = factor > 0 ? low : high;
      const double size = share * std::fabs(value) + (share * from + share * share * from / to * from) * end * end;
      return share * value + factor * end * end - rounding * size - tiny;
    };
    const double square = from * point * point;
    const double best = square > 0 ? (value + square / 2) / square * (to / from) : 1.0;
    for (const double share : {1.0, best})
      if (share > 0 && share <= 1) out.lower = std::max(out.lower, at(share));  // NaN takes no part
  };
  take(L, weights * (1 - rounding),
       ball_radius(2 * std::max(model.certificate.gap, U - L), convexity(o), 0) + 2 * rounding * weights);
  if (model.dual_point != nullptr) {
    const DualPoint& known = *model.dual_point;
    double value = U * (1 - rounding), point = 0, error = 0;
    for (Eigen::Index k = 0; k < model.weights.rows(); ++k) {
      point = std::hypot(point, known.offset.size() > 0 ? (model.weights.row(k) + known.offset.row(k)).norm()
                                                        : model.weights.row(k).norm());
      if (constant > 0)
        point =
            std::hypot(point, (model.intercept(k) - model.target_center.value_or(0) + known.intercept(k)) / constant);
    }
    for (std::size_t p = 0; p < known.slack.size(); ++p) {
      const double between = apart(known, p, constant) * (1 + rounding) + known.error[p];
      value -= (known.slack[p] + from * between / 2 * between) * (1 + rounding);
      error = std::hypot(error, known.error[p]);
    }
    // Sums that rounded differently, and offsets that were added to weights.
    take(value, point, (error + rounding * (point + 2 * weights)) * (1 + rounding));
  }
  if (!(out.upper < infinity)) out.upper = infinity;
  out.lower = std::min(out.lower, out.upper);
  return out;
}

}  // namespace margin
