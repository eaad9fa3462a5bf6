#include "core/report/model_rules.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "core/model/statement_of.hpp"

namespace margin {

namespace {

/// A bound in other units and back is off by a few ulps: shown with the digits that are left.
double shown(double bound, double scale) {
  if (scale == 1) return bound;
  char text[32];
  std::snprintf(text, sizeof text, "%.15g", bound / scale);
  return std::strtod(text, nullptr);
}

}  // namespace

std::vector<ModelRule> model_rules(const Model& m, const Options& options) {
  if (m.basis != nullptr)
    throw Error(ErrorKind::unsupported, "margin_rules shows bounds of weights of features, and this model has none",
                "A model of a kernel, of stumps or of trees weighs these.");
  std::vector<ModelRule> rules;
  if (m.hard_margin()) return rules;
  Objective objective = objective_of(m, options);
  if (objective.target_scale != 1) objective.bounds.count_in(1 / objective.target_scale);
  if (objective.bounds.empty()) return rules;
  for (std::int32_t o = 0; o < m.outputs(); ++o)
    for (std::int32_t j = 0; j < m.terms(); ++j) {
      if (!objective.penalises(j)) continue;
      const auto at = static_cast<std::size_t>(j);
      const std::int32_t feature = m.feature(j);
      const double scale = m.encoder != nullptr ? m.encoder->scale(feature) : 1.0, w = m.weights(o, j);
      for (const bool upper : {false, true}) {
        const double bound = upper ? objective.bounds.most(at) : objective.bounds.least(at);
        if (!std::isfinite(bound)) continue;
        ModelRule rule{o, feature, w / scale, upper, shown(bound, scale), false, 0};
        // The rounding of units aside.
        rule.active = std::fabs(w - bound) <= 16 * std::numeric_limits<double>::epsilon() * std::fabs(bound);
        if (!m.prices.has_value())
          rule.price = std::numeric_limits<double>::quiet_NaN();
        else if (rule.active)
          rule.price = scale * (upper ? std::min(0.0, (*m.prices)(o, j)) : std::max(0.0, (*m.prices)(o, j)));
        rules.push_back(rule);
      }
    }
  return rules;
}

}  // namespace margin
