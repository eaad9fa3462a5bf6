#include "core/model/model_ball.hpp"

#include <algorithm>
#include <cmath>

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
  if (model.hard_margin())
    return "it has no lambda: its certificate is about a margin, not about where the weights are";
  if (model.likelihood()) return "its lambda is 0: nothing but the rows holds the weights";
  if (model.basis != nullptr) return "its weights are not those of features";
  if (options.l1_ratio == 1) return "its l1_ratio is 1: many weights may be nearly as good";
  if (options.standardize || model.target_scale.value_or(1) != 1)
    return "its certificate is in standardised units, which only the training rows know";
  if (options.free_intercept()) return "its intercept is free: nothing holds it near where it is";
  if (std::isnan(model.certificate.gap)) return "its gap is NULL";
  return {};
}

}  // namespace margin
