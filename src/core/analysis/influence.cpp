#include "core/analysis/influence.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/math/rounding.hpp"

namespace margin {

namespace {

void require_influence(const Model& model, const Options& options) {
  require_ball(influence_product, model, options);
  // Of two classes, too: their lambda is not that of the options.
  if (options.multiclass == Multiclass::joint)
    require_features(influence_product, feature::joint_classes, "this model");
}

}  // namespace

Influence::Influence(const Model& model, const Options& options)
    : model_((require_influence(model, options), model)),
      objective_(objective_of(model, options)),
      intervals_(model, options),
      lower_(static_cast<std::size_t>(model.outputs())),
      upper_(lower_) {
  require_known_errors(model, influence_product);
  const double total = model.dual_point != nullptr ? model.dual_point->total_weight.lower()
                                                   : static_cast<double>(model.rows.value_or(0));
  if (!(total > 0))
    refuse_model(influence_product, "it does not tell of how many rows it is",
                 "Use models as train_margin returned them.");
  unit_ = 1 / (convexity(objective_) * total) * (1 + 8 * epsilon);
}

double Influence::of(const Row& x, std::int32_t label) {
  return of(x, objective_.weight_of_class(static_cast<std::size_t>(label)), label, 0);
}

double Influence::of(const Row& x, double target) {
  require_target(*objective_.loss, target, 0);
  return of(x, 1, 0, target);
}

double Influence::of(const Row& x, double weight, std::int32_t label, double target) {
  intervals_.intervals(x, lower_.data(), upper_.data());
  double slopes = 0;
  for (std::size_t o = 0; o < lower_.size(); ++o) {
    const double y = model_.regression() ? target : objective_.target(label, static_cast<std::int32_t>(o));
    // φ' rises: its largest size is at an end, seen from outside, where the end is on a kink.
    const auto slope = [&](double u, double side) {
      return std::fabs(objective_.loss->derivative(u + side * 8 * epsilon * (1 + std::fabs(u) + std::fabs(y)), y));
    };
    slopes = std::hypot(slopes, std::max(slope(lower_[o], -1), slope(upper_[o], 1)));
  }
  // Beyond the kink whatever its length, which may overflow.
  if (slopes == 0) return 0;
  const double length = std::hypot(norm(x), objective_.constant_feature());
  const double moved = weight * slopes * length * unit_ * (1 + epsilon * (x.count + 32.0));
  return std::isnan(moved) ? infinity : moved;
}

}  // namespace margin
