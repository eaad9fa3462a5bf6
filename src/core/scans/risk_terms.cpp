#include "core/scans/risk_terms.hpp"

#include <algorithm>
#include <cmath>

#include "core/loss/registry.hpp"

namespace margin {

namespace {

/// How wrong the second-order expansion of the loss at `there` is at `here`, as a negative number; where it is right, how
/// far the nearer of both is from a kink. `value`: of the loss `here`.
template <class L>
double crossing(const L& loss, double here, double value, const LossPoints& at_there, std::size_t at) {
  const double there = at_there.u[at], y = at_there.y[at], step = here - there;
  double piece;
  if constexpr (evaluates_together<L>)
    piece = at_there.value[at] + (at_there.second_derivative[at] * step / 2 - at_there.dual[at]) * step;
  else
    piece = loss.value(there, y) + (loss.derivative(there, y) + loss.second_derivative(there, y) * step / 2) * step;
  const double wrong = std::fabs(value - piece);
  if (wrong > 1e-12 * (std::fabs(here) + std::fabs(y) + std::fabs(value) + std::fabs(piece))) return -wrong;
  return std::min(kink_distance(loss, here, y), kink_distance(loss, there, y));
}

}  // namespace

RiskTerms::RiskTerms(const Question& question)
    : q_(question),
      outputs_(question.outputs()),
      rings_(question.rings, question.outputs()),
      coefficients_(static_cast<std::size_t>(question.outputs())),
      du_(coefficients_.size()),
      points_(static_cast<std::size_t>(question.outputs())) {
  const double* const intercepts = q_.intercept ? q_.intercepts.data() : nullptr;
  if (joint_of(q_.loss.get()) != nullptr) {
    joint_.emplace(q_.objective(), q_.weights.data(), intercepts, true);
    reductions_ = joint_->scan_reductions();
  } else {
    check_.emplace(q_.objective(), q_.weights.data(), intercepts, true);
    reductions_ = check_->reductions();
    visit(*q_.loss, [&](const auto& own) { measure_ = &RiskTerms::measure_output<std::decay_t<decltype(own)>>; });
  }
  checked_ = reductions_.size();
  reductions_.append(q_.steps.size() * static_cast<std::size_t>(blocks()), '+');
  if (q_.likelihood()) {
    likelihood_.emplace(q_.objective(), q_.weights.data(), intercepts);
    reductions_ += LikelihoodRows::reductions;
  }
}

std::int32_t RiskTerms::cells() const {
  return has_flows() ? static_cast<std::int32_t>(JointCheck::flow_numbers(outputs_))
                     : outputs_ * rings_.groups() * Rings::sums;
}

std::int32_t RiskTerms::cells_of_row() const {
  return has_flows() ? 3 * outputs_ : rings_.groups() > 0 ? outputs_ * Rings::sums : 0;
}

void RiskTerms::score(const CheckedRow& row, Points& points, std::size_t first) {
  const bool targets = q_.outcome == Dataset::Outcome::targets;
  row_ = row;
  if (targets) {
    require_target(*q_.loss, row.target, 0);
    row_.target = (row.target - q_.target_center) / q_.target_scale;
  }
  row_.loss_weight = row.sample_weight * q_.weight_of_class(static_cast<std::size_t>(row.label));
  if (joint_) return;
  double* const u = points.here.u.data() + first;
  check_->score(row.x, u);
  for (std::size_t o = 0; o < static_cast<std::size_t>(outputs_); ++o) {
    const auto output = static_cast<std::int32_t>(o);
    const double y = targets ? row_.target : row.label == (outputs_ == 1 ? 1 : output) ? 1.0 : -1.0;
    points.here.y[first + o] = points.there.y[first + o] = y;
    if (!aims()) continue;
    du_[o] = dot(row.x, q_.direction.row(output).data()) + (q_.intercept ? q_.intercept_direction(output) : 0.0);
    points.there.u[first + o] = u[o] + du_[o];
  }
}

void RiskTerms::measure(double norm, const Points& points, std::size_t first, Room& to) {
  if (joint_) return measure_joint(to);
  const auto outputs = static_cast<std::size_t>(outputs_);
  const LossPoints& here = points.here;
  for (std::size_t o = 0; o < outputs; ++o) points_[o] = here.at(first + o);
  check_->measure(row_, norm, here.u.data() + first, points_.data(), to.numbers, coefficients_.data());
  for (std::size_t o = 0; o < outputs; ++o) {
    const auto output = static_cast<std::int32_t>(o);
    if (coefficients_[o] != 0) *to.coefficients++ = {to.first_vector + output, coefficients_[o]};
    (this->*measure_)(output, points, first + o, to);
  }
  to.numbers += reductions_.size();
  if (likelihood_) likelihood_->measure(row_, here.u[first], here.y[first], to.numbers - LikelihoodRows::count);
  to.curvatures += matrices();
  to.keys += bags();
  to.first_vector += vectors();
  to.first_cell += cells();
}

/// Of a loss that all outputs share.
void RiskTerms::measure_joint(Room& to) {
  const auto& loss = static_cast<const JointLoss&>(*q_.loss);
  joint_->measure_scan(row_, to.numbers, coefficients_.data(),
                       [&](std::int64_t at, double v) { *to.cells++ = {to.first_cell + at, v}; });
  for (std::size_t o = 0; o < coefficients_.size(); ++o)
    if (coefficients_[o] != 0) *to.coefficients++ = {to.first_vector + static_cast<std::int32_t>(o), coefficients_[o]};
  const double c = row_.loss_weight;
  const std::vector<double>& u = joint_->scores();
  double key = joint_->settled();
  if (q_.direction.size() > 0) {
    moved_.resize(3 * u.size());
    double *const du = moved_.data(), *const there = du + u.size(), *const p = there + u.size();
    for (std::int32_t o = 0; o < outputs_; ++o)
      du[o] = dot(row_.x, q_.direction.row(o).data()) + (q_.intercept ? q_.intercept_direction(o) : 0.0);
    for (std::size_t k = 0; k < q_.steps.size(); ++k) {
      for (std::size_t o = 0; o < u.size(); ++o) there[o] = u[o] + q_.steps[k] * du[o];
      to.numbers[checked_ + k] = c > 0 ? c * loss.value(there, outputs_, row_.label) : 0.0;
    }
    // The direction leads here from weights whose tangents the asker knows.
    for (std::size_t o = 0; o < u.size(); ++o) there[o] = u[o] - du[o];
    key = joint_key(loss.bend(there, u.data(), outputs_, row_.label, p), key);
  }
  if (q_.bag_rows > 0) *to.keys++ = c > 0 ? key : infinity;
  to.numbers += reductions_.size();
  to.first_vector += vectors();
  to.first_cell += cells();
}

/// What the check does not have, of one output.
template <class L>
void RiskTerms::measure_output(std::int32_t o, const Points& points, std::size_t point, Room& to) const {
  const L& loss = static_cast<const L&>(*q_.loss);
  const LossPoints& here = points.here;
  const auto at = static_cast<std::size_t>(o);
  const double c = row_.loss_weight, u = here.u[point], y = here.y[point];
  const bool keeps = q_.bag_rows > 0, kept = keeps && c > 0, rung = rings_.groups() > 0 && c > 0;
  // Rows that a model should have as they are, the smallest first: those nearest to a kink; of a loss without kinks those
  // of the largest curvature, which bounds how fast it changes.
  const bool concordant = loss.self_concordance() < infinity, aimed = aims();
  const double distance = rung || (kept && !concordant && !aimed) ? kink_distance(loss, u, y) : infinity;
  if (rung) {
    const std::int32_t group = rings_.group_of(o, distance, here.dual[point], Rings::above(loss, u, y));
    if (group >= 0) {
      const std::int32_t sum = o * rings_.groups() + group;
      *to.coefficients++ = {to.first_vector + outputs_ + sum, c};
      const double sums[] = {1, c, c * to.numbers[2], c * y, c * std::fabs(y)};
      for (std::int32_t k = 0; k < Rings::sums; ++k)
        *to.cells++ = {to.first_cell + std::int64_t{sum} * Rings::sums + k, sums[k]};
    }
  }
  if (q_.curvature) to.curvatures[o] = c > 0 ? c * std::max(0.0, here.second_derivative[point]) : 0.0;
  if (q_.spread) to.curvatures[outputs_ + o] = c > 0 ? c * here.dual[point] * here.dual[point] : 0.0;
  if (!aimed) {
    if (keeps) to.keys[o] = !kept ? infinity : concordant ? -here.second_derivative[point] : distance;
    return;
  }
  if (keeps) to.keys[o] = kept ? crossing(loss, u, here.value[point], points.there, point) : infinity;
  for (std::size_t k = 0; k < q_.steps.size(); ++k)
    to.numbers[checked_ + k * static_cast<std::size_t>(outputs_) + at] =
        c > 0 ? c * loss.value(u + q_.steps[k] * du_[at], y) : 0.0;
}

}  // namespace margin
