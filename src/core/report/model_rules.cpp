#include "core/report/model_rules.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "core/model/statement_of.hpp"
#include "core/problem/fairness.hpp"

namespace margin {

namespace {

/// A bound in other units and back is off by a few ulps: shown with the digits that are left.
double shown(double bound, double scale) {
  if (scale == 1) return bound;
  char text[32];
  std::snprintf(text, sizeof text, "%.15g", bound / scale);
  return std::strtod(text, nullptr);
}

using Relation = ModelRule::Relation;

/// The rounding of units aside.
bool reached(double value, double bound, double size) {
  return std::fabs(value - bound) <= 16 * std::numeric_limits<double>::epsilon() * size;
}

void add_bounds(const Model& m, const Objective& objective, std::int32_t o, std::vector<ModelRule>& rules) {
  for (std::int32_t j = 0; j < m.terms(); ++j) {
    if (!objective.penalises(j)) continue;
    const auto at = static_cast<std::size_t>(j);
    const std::int32_t feature = m.feature(j);
    const double scale = m.encoder != nullptr ? m.encoder->scale(feature) : 1.0, w = m.weights(o, j);
    for (const Relation relation : {Relation::at_least, Relation::at_most}) {
      const bool upper = relation == Relation::at_most;
      const double bound = upper ? objective.bounds.most(at) : objective.bounds.least(at);
      if (!std::isfinite(bound)) continue;
      const std::string name = m.encoder != nullptr ? m.encoder->feature_name(feature) : std::to_string(feature + 1);
      ModelRule rule{o, name, w / scale, relation, shown(bound, scale), reached(w, bound, std::fabs(bound)), 0};
      if (!m.prices.has_value())
        rule.price = std::numeric_limits<double>::quiet_NaN();
      else if (rule.active)
        rule.price = scale * (upper ? std::min(0.0, (*m.prices)(o, j)) : std::max(0.0, (*m.prices)(o, j)));
      rules.push_back(rule);
    }
  }
}

void add_constraints(const Model& m, const Objective& objective, const Options& options, std::int32_t o,
                     std::vector<ModelRule>& rules) {
  const Constraints& c = objective.constraints;
  const double* const w = m.weights.row(o).data();
  const bool priced =
      m.constraint_prices.has_value() && m.constraint_prices->cols() == static_cast<Eigen::Index>(c.count());
  for (std::size_t k = 0; k < c.count(); ++k) {
    const double value = c.rows.product(k, w), size = c.rows.size(k, w), l = options.constraints[k].lower,
                 u = options.constraints[k].upper;
    const double price =
        priced ? (*m.constraint_prices)(o, static_cast<Eigen::Index>(k)) : std::numeric_limits<double>::quiet_NaN();
    const auto add = [&](Relation relation, double bound, double own) {
      // What a sum is rounded by, and what counts as met.
      const bool active = std::fabs(value - bound) <= 2 * met_constraint * (size + std::fabs(bound));
      rules.push_back({o, options.constraints[k].name, value, relation, bound, active, own});
    };
    if (l == u) {
      add(Relation::equal, l, price);
      continue;
    }
    if (std::isfinite(l)) add(Relation::at_least, l, price > 0 || std::isnan(price) ? price : 0.0);
    if (std::isfinite(u)) add(Relation::at_most, u, price < 0 || std::isnan(price) ? price : 0.0);
  }
}

}  // namespace

std::vector<ModelRule> model_rules(const Model& m, const Options& given) {
  if (m.basis != nullptr)
    throw Error(ErrorKind::unsupported, "margin_rules shows bounds of weights of features, and this model has none",
                "A model of a kernel, of stumps or of trees weighs these.");
  std::vector<ModelRule> rules;
  if (m.hard_margin()) return rules;
  Options options = given;
  use_fairness(options);
  Objective objective = objective_of(m, given);
  if (objective.target_scale != 1) objective.bounds.count_in(1 / objective.target_scale);
  for (std::int32_t o = 0; o < m.outputs(); ++o) {
    if (!objective.bounds.empty()) add_bounds(m, objective, o, rules);
    add_constraints(m, objective, options, o, rules);
  }
  return rules;
}

}  // namespace margin
