#include "core/scans/risk_terms.hpp"

#include <algorithm>
#include <cmath>

#include "core/loss/loss.hpp"

namespace margin {

namespace {

/// Which rows a model should have as they are, the smallest first: those nearest to a kink; of a loss without kinks
/// those of the largest curvature, which bounds how fast it changes.
double straightness(const Loss& loss, double u, double y) {
  return loss.self_concordance() < infinity ? -loss.second_derivative(u, y) : kink_distance(loss, u, y);
}

/// How wrong the second-order expansion of the loss at `there` is at `here`, as a negative number; where it is right, how
/// far `there` is from a kink.
double crossing(const Loss& loss, double here, double there, double y) {
  const double step = here - there;
  const double piece =
      loss.value(there, y) + (loss.derivative(there, y) + loss.second_derivative(there, y) * step / 2) * step;
  const double wrong = std::fabs(loss.value(here, y) - piece);
  return wrong > 1e-12 * (1 + std::fabs(here)) ? -wrong : kink_distance(loss, there, y);
}

}  // namespace

RiskTerms::RiskTerms(const Question& question)
    : q_(question),
      outputs_(question.outputs()),
      rings_(question.rings, question.outputs()),
      check_(question.objective(), question.weights.data(), question.intercept ? question.intercepts.data() : nullptr,
             true) {
  check_.use_slopes();
  reductions_ = check_.reductions();
  checked_ = reductions_.size();
  reductions_.append(q_.steps.size() * static_cast<std::size_t>(outputs_), '+');
}

std::int32_t RiskTerms::measure(CheckedRow row, const Room& to) {
  const bool targets = q_.outcome == Dataset::Outcome::targets;
  if (targets) require_target(*q_.loss, row.target, 0);
  row.target = (row.target - q_.target_center) / q_.target_scale;
  row.loss_weight = row.sample_weight * q_.weight_of_class(static_cast<std::size_t>(row.label));
  check_.measure(row, to.numbers, to.coefficients);
  std::fill(to.coefficients + outputs_, to.coefficients + vectors(), 0.0);
  const auto outputs = static_cast<std::size_t>(outputs_);
  const double c = row.loss_weight;
  std::int32_t cells = 0;
  for (std::size_t o = 0; o < outputs; ++o) {
    const double u = check_.scores()[o];
    const double y = targets         ? row.target
                     : outputs_ == 1 ? (row.label == 1 ? 1.0 : -1.0)
                                     : (row.label == static_cast<std::int32_t>(o) ? 1.0 : -1.0);
    if (rings_.groups() > 0 && c > 0) ring(static_cast<std::int32_t>(o), u, y, row, to, cells);
    if (q_.curvature) to.curvatures[o] = c * std::max(0.0, q_.loss->second_derivative(u, y));
    const bool keeps = q_.bag_rows > 0, kept = keeps && c > 0;
    if (q_.direction.size() == 0) {
      if (keeps) to.keys[o] = kept ? straightness(*q_.loss, u, y) : infinity;
      continue;
    }
    const auto at = static_cast<Eigen::Index>(o);
    const double du = dot(row.x, q_.direction.row(at).data()) + (q_.intercept ? q_.intercept_direction(at) : 0.0);
    if (keeps) to.keys[o] = kept ? std::min(kink_distance(*q_.loss, u, y), crossing(*q_.loss, u, u + du, y)) : infinity;
    for (std::size_t k = 0; k < q_.steps.size(); ++k)
      to.numbers[checked_ + k * outputs + o] = c > 0 ? c * q_.loss->value(u + q_.steps[k] * du, y) : 0.0;
  }
  return cells;
}

/// The row's part of the sums of its group.
void RiskTerms::ring(std::int32_t output, double u, double y, const CheckedRow& row, const Room& to,
                     std::int32_t& cells) const {
  const std::int32_t group = rings_.group_of(*q_.loss, output, u, y);
  if (group < 0) return;
  const std::int32_t at = output * rings_.groups() + group;
  const double c = row.loss_weight;
  to.coefficients[outputs_ + at] = c;
  const double sums[] = {1, c, c * to.numbers[2], c * y, c * std::fabs(y)};
  for (std::int32_t k = 0; k < Rings::sums; ++k) to.cells[cells++] = {to.first_cell + at * Rings::sums + k, sums[k]};
}

}  // namespace margin
