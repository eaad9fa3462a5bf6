#include "core/model/statement_of.hpp"

#include <algorithm>

#include "core/data/stump_basis.hpp"
#include "core/kernel/support_vectors.hpp"
#include "core/loss/joint.hpp"
#include "core/problem/bounds.hpp"
#include "core/problem/constraints.hpp"
#include "core/problem/fairness.hpp"
#include "core/problem/penalty.hpp"

namespace margin {

Constraints constraints_of(const Model& m, const Options& s) {
  Constraints out;
  if (m.hard_margin() || m.basis != nullptr) return out;
  Options own;
  own.constraints = s.constraints;
  own.fairness = s.fairness;
  use_fairness(own);
  if (own.constraints.empty()) return out;
  if (m.encoder != nullptr) name_constraints(own, *m.encoder);
  const bool all = m.columns.empty();
  out = weight_constraints(own, all ? m.terms() : m.dimensions, all ? nullptr : &m.columns);
  const double unit = m.target_scale.value_or(1);
  if (unit != 1) out.count_in(unit);
  if (m.constraint_prices.has_value() && m.constraint_prices->cols() == static_cast<Eigen::Index>(out.count()))
    out.multipliers = -unit * *m.constraint_prices;
  return out;
}

Objective objective_of(const Model& m, const Options& s) {
  const bool soft = !m.hard_margin(), joint = s.multiclass == Multiclass::joint, all = m.columns.empty();
  Objective o({}, m.basis != nullptr ? m.dimensions : m.terms());
  o.task = m.task;
  o.classes = static_cast<std::int32_t>(m.classes.size());
  o.norm = m.norm;
  o.learners = m.learners();
  o.interpolate = m.interpolates();
  if (soft) o.loss = joint && m.outputs() > 1 ? make_joint_loss(m.loss, s) : make_loss(m.loss, s);
  o.lambda = joint ? joint_lambda(m.lambda.value_or(0), m.outputs()) : m.lambda.value_or(0);
  o.l1_ratio = s.l1_ratio;
  if (soft && support_vectors_of(m.basis.get()) == nullptr) {
    Options own = s;
    if (m.encoder != nullptr) name_penalties(own, *m.encoder);
    if (m.encoder != nullptr) name_bounds(own, *m.encoder);
    if (m.encoder != nullptr) name_fairness(own, *m.encoder);
    o.penalty_factor = penalty_factors(own, all ? m.terms() : m.dimensions, all ? nullptr : &m.columns);
    o.least_factor = std::min(1.0, least_penalty_factor(own));
    o.bounds = weight_bounds(own, all ? m.terms() : m.dimensions, all ? nullptr : &m.columns);
    o.offset = offset_term(m, s);
  }
  o.intercept = s.intercept;
  o.free_intercept = soft && !m.likelihood() && s.free_intercept();
  o.intercept_scale = s.intercept_scale;
  o.target_center = m.target_center.value_or(0);
  o.target_scale = m.target_scale.value_or(1);
  if (o.target_scale != 1) o.bounds.count_in(o.target_scale);
  o.constraints = constraints_of(m, s);
  if (o.task == Task::regression && soft && o.target_scale != 1) o.loss = in_units(*o.loss, o.target_scale);
  if (!s.class_weight_balanced && !s.class_weight.empty())
    for (const std::string& name : m.classes) {
      const auto found = s.class_weight.find(name);
      o.class_weight.push_back(found == s.class_weight.end() ? 1.0 : found->second);
    }
  return o;
}

}  // namespace margin
