#include "core/certificate/likelihood_rows.hpp"

#include <algorithm>
#include <cmath>

#include "core/math/norm.hpp"
#include "core/math/rounding.hpp"

namespace margin {

namespace {

/// The sign of <x, w> + b where it follows without any rounding: 0 if it is 0, 2 if that cannot be said.
int exact_sign(const Row& x, const double* w, double b) {
  double sum = b;
  for (std::int32_t k = 0; k < x.count; ++k) {
    const double v = x.value(k), weight = w[x.indices != nullptr ? x.indices[k] : k];
    const double product = v * weight;
    if (product == 0 && v != 0 && weight != 0) return 2;
    if (std::fma(v, weight, -product) != 0) return 2;
    const double next = sum + product, back = next - sum;
    if ((sum - (next - back)) + (product - back) != 0) return 2;
    sum = next;
  }
  return sum > 0 ? 1 : sum < 0 ? -1 : 0;
}

}  // namespace

LikelihoodRows::LikelihoodRows(const Objective& objective, const double* weights, const double* intercept)
    : objective_(objective),
      weights_(weights),
      intercept_(intercept),
      weight_norm_(lp_norm(weights, objective.dimensions, 2)) {
  if (objective.offset < 0) return;
  direction_.assign(weights, weights + objective.dimensions);
  direction_[static_cast<std::size_t>(objective.offset)] = 0;
}

/// A row with a count above 0 has to keep its mean; where a sign cannot be told, the weights separate nothing.
int LikelihoodRows::side_of(const CheckedRow& row, double along, double error) const {
  const bool counts = objective_.loss->log_link();
  if (!counts && objective_.task == Task::regression) return 0;
  int sign = along > error ? 1 : along < -error ? -1 : 0;
  if (sign == 0) sign = exact_sign(row.x, direction(), intercept_ != nullptr ? *intercept_ : 0.0);
  if (counts && row.target > 0) return sign != 0 ? -1 : 0;
  if (counts) return sign > 0 ? -1 : sign < 0 ? 1 : 0;
  return sign == 2 ? -1 : sign * (objective_.target(row.label, 0) > 0 ? 1 : -1);
}

LikelihoodRow LikelihoodRows::measure(const CheckedRow& row, double u, double y) const {
  const Loss& loss = *objective_.loss;
  const double b = intercept_ != nullptr ? *intercept_ : 0.0, c = row.loss_weight;
  LikelihoodRow out;
  // As in RiskCheck.
  out.score_error =
      epsilon * ((row.x.count + 4.0) * (norm(row.x) * weight_norm_) + 2 * std::fabs(b) + loss.argument_size(u, y)) +
      tiny * (row.x.count + 8.0);
  out.side = side_of(row, direction_.empty() ? u : dot(row.x, direction()) + b, out.score_error);
  out.slope = loss.derivative(u, y);
  out.curvature = loss.second_derivative(u, y);
  // φ' over a score that errs, by the largest φ'' between, and its own evaluation.
  const double growth = std::exp(std::min(loss.self_concordance() * out.score_error, 1.0));
  out.slope_error =
      c * (growth * out.curvature * out.score_error + 8 * epsilon * (std::fabs(out.slope) + out.curvature) + tiny);
  return out;
}

void LikelihoodRows::measure(const CheckedRow& row, double u, double y, double* numbers) const {
  if (!(row.loss_weight > 0)) {
    std::fill_n(numbers, count, 0.0);
    return;
  }
  const LikelihoodRow r = measure(row, u, y);
  numbers[0] = r.slope_error;
  numbers[1] = row.loss_weight * std::fabs(r.slope);
  numbers[2] = r.score_error;
  numbers[3] = r.side < 0 ? 1.0 : 0.0;
  numbers[4] = r.side > 0 ? 1.0 : 0.0;
  numbers[5] = std::fabs(u);
}

}  // namespace margin
