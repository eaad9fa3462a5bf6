#include "core/certificate/one_class.hpp"

#include <algorithm>
#include <cmath>

#include "core/math/norm.hpp"
#include "core/math/rounding.hpp"

namespace margin {

namespace {

constexpr std::size_t numbers_of_a_row = 6;
constexpr std::int64_t rows_of_a_block = 512;

}  // namespace

OneClassCheck::OneClassCheck(const Objective& objective, const double* weights, const double* intercept, bool with_dual)
    : objective_(objective),
      weights_(weights),
      intercept_(intercept),
      with_dual_(with_dual),
      norm_(lp_norm(weights, objective.dimensions, 2)) {
  if (!with_dual) return;
  total_ = Weights::Zero(1, objective.dimensions);
  block_ = total_;
}

void OneClassCheck::measure(const CheckedRow& row, double* numbers, double* coefficients) {
  const Row& x = row.x;
  const double c = row.loss_weight, length = margin::norm(x), b = intercept_ != nullptr ? *intercept_ : 0.0;
  const double u = dot(x, weights_) + b;
  // At most (terms + 2) ulps of ‖x‖‖w‖ + |b|, and what underflows.
  const double error = epsilon * ((x.count + 4.0) * (length * norm_) + 2 * std::fabs(b)) + tiny * (x.count + 8.0);
  // A convex loss that falls is largest at the lower end of the interval that holds the score.
  const double value = or_infinity(objective_.loss->value(u - error, 1));
  numbers[0] = 1;
  numbers[1] = u > 0 ? 0 : 1;
  numbers[2] = length;
  numbers[3] = row.sample_weight;
  numbers[4] = c > 0 ? c * value : 0;
  numbers[5] = c > 0 ? c * (8 * epsilon * value) + (value > 0 ? tiny : 0) : 0;
  *coefficients = 0;
}

void OneClassCheck::add(const CheckedRow& row) {
  double numbers[numbers_of_a_row], unused;
  measure(row, numbers, &unused);
  take(numbers);
  if (!with_dual_ || row.dual == nullptr || !(row.loss_weight > 0)) return;
  const double a = objective_.loss->project(std::isnan(*row.dual) ? 0.0 : *row.dual, 1), c = row.loss_weight;
  if (!(a > 0)) return;
  ++support_;
  dual_weight_.add(c * a);
  dual_weight_.add(std::fma(c, a, -(c * a)));
  mass_ += c * a * numbers[2];
  margin::add(c * a, row.x, block_.row(0).data());
  if (++block_rows_ < rows_of_a_block) return;
  total_ += block_;
  block_.setZero();
  block_rows_ = 0;
  ++blocks_;
}

void OneClassCheck::widen(std::int32_t dimensions, const double* weights) {
  objective_.dimensions = dimensions;
  weights_ = weights;
  if (!with_dual_) return;
  margin::widen(total_, dimensions);
  margin::widen(block_, dimensions);
}

void OneClassCheck::take(const double* numbers) {
  rows_ += static_cast<std::int64_t>(numbers[0]);
  outside_ += numbers[1];
  radius_ = std::max(radius_, or_infinity(numbers[2]));
  total_weight_.add(numbers[3]);
  loss_.add(numbers[4]);
  loss_error_ += numbers[5];
}

std::vector<double> OneClassCheck::state() const {
  return {static_cast<double>(rows_), outside_, radius_, total_weight_.value(), loss_.value(), loss_error_};
}

bool OneClassCheck::merge(const std::vector<double>& s) {
  if (s.size() != numbers_of_a_row || !(s[0] >= 0 && s[0] <= 0x1p53) || !(s[1] >= 0 && s[1] <= s[0])) return false;
  take(s.data());
  return true;
}

double OneClassCheck::primal() const {
  const double weight = total_weight_.value(), b = intercept_ != nullptr ? *intercept_ : 0.0;
  if (!(weight > 0) || !(weight < infinity)) return infinity;
  const double loss = (loss_.value() + loss_error_ * (1 + epsilon * static_cast<double>(rows_))) / weight;
  const double square = 0.5 * norm_ * norm_ * (1 + epsilon * (2.0 * objective_.dimensions + 16.0));
  const double size = square + loss + std::fabs(b);
  return or_infinity(square + loss + b + 8 * epsilon * size + 4 * tiny);
}

double OneClassCheck::dual() const {
  const double weight = total_weight_.value();
  const double radius = radius_ * (1 + epsilon * (objective_.dimensions + 8.0)), square = radius * radius;
  const double known = -0.5 * square * (1 + 8 * epsilon) - tiny;
  if (support_ == 0 || !(weight > 0) || !(weight < infinity)) return known;
  const double sum = dual_weight_.value() / weight;
  const double share = std::min(1.0, 1 / sum);
  const double off = std::max(0.0, 1 - sum) + 8 * epsilon;
  const Weights all = total_ + block_;
  if (!all.allFinite()) return known;
  const double depth = static_cast<double>(std::max(rows_of_a_block, block_rows_) + blocks_) + 8.0;
  const double rounding = epsilon * depth * mass_ / weight + tiny * static_cast<double>(support_ + 8);
  const double norm =
      share *
      (lp_norm(all.data(), all.size(), 2) / weight * (1 + epsilon * (objective_.dimensions + 16.0)) + rounding) *
      (1 + 4 * epsilon);
  const double value = -(0.5 * norm * norm + off * square) * (1 + 8 * epsilon) - tiny;
  return std::isnan(value) ? known : std::max(value, known);
}

Certificate OneClassCheck::certificate(const Progress&) const {
  Certificate c;
  c.upper = primal();
  c.lower = std::min(dual(), c.upper);
  set_minimum_gap(c);
  c.support = support_;
  c.errors = static_cast<std::int64_t>(outside_);
  c.radius = radius_;
  return c;
}

}  // namespace margin
