#include "core/certificate/interpolation.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/progress.hpp"
#include "core/math/norm.hpp"
#include "core/math/rounding.hpp"
#include "core/problem/thresholds.hpp"

namespace margin {

InterpolationCheck::InterpolationCheck(std::int32_t dimensions, double norm, const double* weights, double intercept,
                                       bool free_intercept, bool with_dual)
    : dimensions_(dimensions),
      norm_(norm),
      weights_(weights),
      intercept_(intercept),
      size_(lp_norm(weights, dimensions, norm)),
      free_intercept_(free_intercept),
      with_dual_(with_dual) {
  if (with_dual) sums_ = Weights::Zero(2, dimensions);
}

void InterpolationCheck::measure(const CheckedRow& row, double* numbers, double* coefficients) {
  const double lower = row.target, upper = row.upper_target;
  const double length = norm(row.x) * (1 + epsilon * (dimensions_ + 4.0));
  const double score = dot(row.x, weights_) + intercept_;
  double slack = std::min(score - lower, upper - score);
  // A row whose interval has no ends is never missed.
  const double size_of_slack = std::isfinite(slack) ? std::fabs(slack) : 0;
  const double rounding = epsilon * ((dimensions_ + 2.0) * (length * size_) + 2 * std::fabs(intercept_) +
                                     2 * std::fabs(score) + 2 * size_of_slack) +
                          (length > 0 && size_ > 0 ? (dimensions_ + 2.0 + length) * tiny : 0.0);
  if (!std::isfinite(score) || !std::isfinite(rounding)) slack = -infinity;  // an overflow proves nothing
  numbers[0] = 1;
  numbers[1] = slack < -rounding || slack == -infinity ? 1 : 0;
  numbers[2] = slack > -infinity ? slack - rounding : slack;
  numbers[3] = length;
  numbers[4] = 0;
  for (const double end : {lower, upper})
    if (std::isfinite(end)) numbers[4] = std::max(numbers[4], std::fabs(end));
  coefficients[0] = 0;
}

void InterpolationCheck::take(const double* numbers) {
  rows_ += static_cast<std::int64_t>(numbers[0]);
  outside_ += static_cast<std::int64_t>(numbers[1]);
  slack_ = std::min(slack_, numbers[2]);
  radius_ = std::max(radius_, numbers[3]);
  scale_ = std::max(scale_, numbers[4]);
}

void InterpolationCheck::add(const Row& x, double lower, double upper, double alpha) {
  CheckedRow row{x};
  row.target = lower;
  row.upper_target = upper;
  double numbers[5], coefficient;
  measure(row, numbers, &coefficient);
  take(numbers);
  const double end = alpha > 0 ? lower : upper;
  const double size = std::fabs(alpha);
  if (!with_dual_ || !(size > 0) || !std::isfinite(end) || !std::isfinite(size)) return;
  const int side = alpha > 0 ? 1 : 0;
  ++support_;
  mass_[side] += size;
  height_[side] += size * end;
  absolute_[side] += size * std::fabs(end);
  margin::add(size, x, sums_.row(side).data());
}

void InterpolationCheck::widen(std::int32_t dimensions, const double* weights) {
  dimensions_ = dimensions;
  weights_ = weights;
  if (with_dual_) margin::widen(sums_, dimensions);
}

std::vector<double> InterpolationCheck::state() const {
  return {static_cast<double>(rows_), static_cast<double>(outside_), slack_, radius_, scale_};
}

bool InterpolationCheck::merge(const std::vector<double>& s) {
  if (s.size() != 5 || !(s[0] >= 0 && s[0] <= 0x1p53) || !(s[1] >= 0 && s[1] <= s[0])) return false;
  take(s.data());
  return true;
}

double InterpolationCheck::primal() const {
  const double size = size_ * (1 + epsilon * (dimensions_ + 20.0));
  const double primal = 0.5 * size * size * (1 + 4 * epsilon) + (size > 0 ? tiny : 0.0);
  return std::isnan(primal) ? infinity : primal;
}

double InterpolationCheck::least_norm() const {
  if (support_ == 0) return 0;
  double factor[2] = {1, 1};
  if (free_intercept_) {  // Σα = 0: as much up as down
    if (!(std::min(mass_[0], mass_[1]) >= smallest_normal)) return 0;
    factor[0] = 1 / mass_[0];
    factor[1] = 1 / mass_[1];
  }
  const Eigen::RowVectorXd u = factor[1] * sums_.row(1) - factor[0] * sums_.row(0);
  const double mass = factor[0] * mass_[0] + factor[1] * mass_[1];
  const double terms = epsilon * (static_cast<double>(support_) + 6);
  if (!simd().finite_d(u.data(), static_cast<std::size_t>(u.size()))) return 0;
  const double vanished = (static_cast<double>(support_) + 6) * (factor[0] * tiny + factor[1] * tiny);
  const double height = factor[1] * height_[1] - factor[0] * height_[0] -
                        terms * (factor[0] * absolute_[0] + factor[1] * absolute_[1]) - vanished;
  const double length = lp_norm(u.data(), u.size(), dual_exponent(norm_)) * (1 + epsilon * (dimensions_ + 20.0)) +
                        (radius_ > 0 ? terms * mass * radius_ + dimensions_ * vanished : 0.0);
  if (!(height > 0) || !std::isfinite(height) || !std::isfinite(length)) return 0;
  return length > 0 ? std::max(0.0, height / length * (1 - 4 * epsilon) - tiny) : infinity;
}

Certificate InterpolationCheck::certificate(const Progress&) const {
  Certificate c;
  c.radius = radius_;
  c.support = support_;
  c.errors = outside_;
  c.slack = slack_;
  c.least_norm = least_norm();
  c.largest_target = scale_;
  c.upper = primal();
  c.lower = std::min(std::max(0.0, 0.5 * c.least_norm * c.least_norm * (1 - 4 * epsilon) - tiny),
                     std::numeric_limits<double>::max());
  // Weights that miss targets by what counts as met may be as much shorter than those that meet them exactly. What is
  // proven of these is said only as far as it does not contradict the weights.
  if (c.slack >= -negligible_miss * c.largest_target) c.lower = std::min(c.lower, c.upper);
  set_minimum_gap(c);
  return c;
}

}  // namespace margin
