// What rows add to the certificate of joint classes.
#include <algorithm>
#include <cmath>

#include "core/certificate/joint.hpp"
#include "core/math/norm.hpp"
#include "core/math/rounding.hpp"

namespace margin {

void JointCheck::measure(const CheckedRow& row, double* numbers, double* coefficients) {
  const Row& x = row.x;
  const double c = row.loss_weight, norm = margin::norm(x);
  const auto k = static_cast<double>(classes_);
  std::size_t best = 0;
  double largest = 0, offset = 0, terms = is_long(norm) ? 0.0 : norm * norm_;  // ≥ Σ |w_j||x_j| of any class
  for (std::size_t o = 0; o < classes_; ++o) {
    const double b = intercept_ != nullptr ? intercept_[o] : 0.0;
    const double* const w = weights_ + o * static_cast<std::size_t>(objective_.dimensions);
    const double u = dot(x, w) + b;
    if (is_long(norm)) terms = std::max(terms, absolute_product(x, w));
    scores_[o] = u;
    if (u > scores_[best]) best = o;
    largest = std::max(largest, std::fabs(u));
    offset = std::max(offset, std::fabs(b));
  }
  std::fill_n(numbers, head + own, 0.0);
  std::fill_n(coefficients, classes_, 0.0);
  const bool wrong = static_cast<std::int32_t>(best) != row.label;
  numbers[0] = 1;
  numbers[1] = wrong ? 1 : 0;
  numbers[2] = norm;
  numbers[3] = row.sample_weight;
  numbers[4] = wrong ? c : 0;
  if (!(c > 0)) return;
  const double value = loss_.value(scores_.data(), objective_.classes, row.label);
  // Every score errs by as much as one of RiskCheck, and φ by twice that. Its own evaluation: differences of scores,
  // exponentials e^(−t) that err by t + 4 ulps (t e^(−t) < 1) and their sum.
  const double error = epsilon * ((x.count + 4.0) * terms + 2 * offset) + tiny * (x.count + 8.0);
  const double own_error = epsilon * (8 * value + 4 * largest);
  const double rest = loss_.form() == JointLoss::Form::multinomial
                          ? epsilon * (k + 8) * std::min(value, k) + 8 * epsilon * k * std::min(1.0, value)
                          : 4 * epsilon;
  numbers[6] = c * value;
  numbers[7] = c * (2 * error + own_error + rest);
  if (value > 0 || norm_ > 0 || offset > 0) numbers[8] = c * (x.count + k + 8.0) + 4;
}

void JointCheck::take(const double* n) {
  rows_ += static_cast<std::int64_t>(n[0]);
  errors_ += static_cast<std::int64_t>(n[1]);
  radius_ = std::max(radius_, n[2]);
  total_weight_.add(n[3]);
  error_weight_.add(n[4]);
  support_ += static_cast<std::int64_t>(n[5]);
  value_.add(n[6]);
  value_error_ += n[7];
  vanished_ += n[8];
  dual_value_.add(n[9]);
  dual_size_ += n[10];
  mass_ += n[11];
  unseen_ += n[12];
}

/// The p of a row's dual weights, or of its scores where it brings none and the loss has them; false: nothing.
bool JointCheck::own_dual(const CheckedRow& row) {
  if (row.dual == nullptr) {
    if (loss_.form() != JointLoss::Form::multinomial) return false;
    loss_.maximiser(scores_.data(), objective_.classes, row.label, p_.data());
  } else {
    for (std::size_t o = 0; o < classes_; ++o) p_[o] = row.dual[o] < 0 ? -row.dual[o] : 0.0;  // NaN counts as 0
  }
  return true;
}

/// What the row's p adds to `numbers`, and its coefficients a c; false: nothing.
bool JointCheck::measure_dual(const CheckedRow& row, double norm, double* numbers) {
  const auto y = static_cast<std::size_t>(row.label);
  const double c = row.loss_weight;
  const auto k = static_cast<double>(classes_);
  p_[y] = 0;
  others_ = 0;
  for (const double p : p_) others_ += p;
  if (!(others_ < infinity)) return false;
  if (others_ > 1) {  // onto the simplex, where D holds: the nearest end of a ray from the row's own class
    const double all = others_;
    others_ = 0;
    for (double& p : p_) {
      p = p / all * (1 - 4 * k * epsilon);
      others_ += p;
    }
  }
  if (!(others_ > 0)) return false;
  const bool entropic = loss_.form() == JointLoss::Form::multinomial;
  double value = entropic ? 0.0 : others_, size = others_;
  if (entropic) {
    // 1 − Σ p errs by k ulps of Σ p, which the logarithm in front of it multiplies.
    const double last = others_ < 1 ? -std::log1p(-others_) : 0.0;
    value = (1 - others_) * last;
    size += others_ * (1 + last);
  }
  for (std::size_t o = 0; o < classes_; ++o) {
    coefficients_[o] = o == y ? c * others_ : -c * p_[o];
    const double h = entropy(p_[o]);
    value += h;
    size += std::fabs(h);
  }
  numbers[5] = 1;
  numbers[9] = c * value;
  numbers[10] = c * size;
  numbers[11] = row_mass(row, is_long(norm) ? 0.0 : norm);
  numbers[12] = (norm + objective_.constant_feature() + row.x.count + c + 4) * (k + 1);
  return true;
}

/// The same, and what it adds to the sums by class and pairs of classes.
bool JointCheck::take_dual(const CheckedRow& row, double norm, double* numbers) {
  if (!own_dual(row) || !measure_dual(row, norm, numbers)) return false;
  if (!flow_.empty())
    measure_flows(row, is_long(norm) ? 0.0 : norm, [&](std::int64_t at, double v) { take_flow(at, v); });
  for (std::size_t o = 0; o < classes_; ++o) balance_[o].add(coefficients_[o]);
  moved_.add(row.loss_weight * others_);
  return true;
}

void JointCheck::take_flow(std::int64_t at, double v) {
  const auto pair = static_cast<std::size_t>(at / 3);
  if (at % 3 == 0)
    flow_[pair].add(v);
  else
    (at % 3 == 1 ? entropy_ : reach_)[pair] += v;
}

void JointCheck::take_long(const CheckedRow& row, double norm) {
  if (!is_long(norm)) return;
  squares_.resize(static_cast<std::size_t>(objective_.dimensions));
  for (std::int32_t k = 0; k < row.x.count; ++k) {
    const double v = row.x.value(k);
    squares_[static_cast<std::size_t>(row.x.indices != nullptr ? row.x.indices[k] : k)] += row.loss_weight * (v * v);
  }
  for (const double a : coefficients_) long_squares_ += a * (a / row.loss_weight);
}

void JointCheck::add(const CheckedRow& row) {
  measure(row, numbers_.data(), coefficients_.data());
  const bool supports = with_dual_ && row.loss_weight > 0 && take_dual(row, numbers_[2], numbers_.data());
  take(numbers_.data());
  if (!supports) return;
  take_long(row, numbers_[2]);
  for (Eigen::Index o = 0; o < block_.rows(); ++o)
    if (coefficients_[static_cast<std::size_t>(o)] != 0)
      margin::add(coefficients_[static_cast<std::size_t>(o)], row.x, block_.row(o).data());
  // A block reads more numbers than its sums are.
  if (++block_rows_ >= 512 &&
      static_cast<double>(block_rows_) * row.x.count >= 8.0 * static_cast<double>(block_.cols()))
    flush();
}

void JointCheck::flush() const {
  if (block_rows_ == 0) return;
  total_ += block_;
  block_.setZero();
  ++blocks_;
  longest_block_ = std::max(longest_block_, block_rows_);
  block_rows_ = 0;
}

bool JointCheck::merge_scan(const std::vector<double>& s, const Weights& sums,
                            const std::vector<std::pair<std::int64_t, double>>& flows, std::int64_t longest,
                            std::int64_t blocks) {
  const auto k = static_cast<std::int64_t>(classes_);
  if (s.size() != head + own + 1 + classes_ || sums.rows() != total_.rows() || sums.cols() != total_.cols())
    return false;
  if (!(s[0] >= 0 && s[0] <= 0x1p53 && s[1] >= 0 && s[1] <= s[0] && s[5] >= 0 && s[5] <= s[0])) return false;
  for (const std::size_t at : {7, 8, 10, 11, 12, 13})
    if (!(s[at] >= 0)) return false;
  for (const auto& [at, v] : flows)
    if (!(at >= 0 && at < flow_numbers(k) && v >= 0) || flow_.empty()) return false;
  take(s.data());
  moved_.add(s[head + own]);
  for (std::size_t o = 0; o < classes_; ++o) balance_[o].add(s[head + own + 1 + o]);
  for (const auto& [at, v] : flows) take_flow(at, v);
  total_ += sums;
  longest_block_ = std::max(longest_block_, longest);
  blocks_ += blocks;
  return true;
}

/// The part of the row's p_ comes, or goes. What bounds the rounding only grows, as either is rounded.
void JointCheck::replace_part(const CheckedRow& row, double sign) {
  const double norm = numbers_[2];
  std::fill(numbers_.begin() + 9, numbers_.end(), 0.0);
  numbers_[5] = 0;
  if (!measure_dual(row, norm, numbers_.data())) return;
  support_ += sign > 0 ? 1 : -1;
  dual_value_.add(sign * numbers_[9]);
  dual_size_ += numbers_[10];
  mass_ += row_mass(row, norm);
  unseen_ += numbers_[12];
  moved_.add(row.loss_weight * others_);
  for (std::size_t o = 0; o < classes_; ++o) balance_[o].add(sign * coefficients_[o]);
  if (!flow_.empty())
    measure_flows(row, norm, [&](std::int64_t at, double v) { take_flow(at, at % 3 == 0 ? sign * v : v); });
  for (Eigen::Index o = 0; o < block_.rows(); ++o)
    if (const double a = coefficients_[static_cast<std::size_t>(o)]; a != 0)
      margin::add(sign * a, row.x, block_.row(o).data());
  if (++block_rows_ >= 512) flush();
}

void JointCheck::replace_dual(const CheckedRow& row, const double* after) {
  if (!(row.loss_weight > 0)) return;
  measure(row, numbers_.data(), coefficients_.data());
  loss_.settled(scores_.data(), objective_.classes, row.label, p_.data());
  replace_part(row, -1);
  CheckedRow with = row;
  with.dual = after;
  own_dual(with);
  replace_part(row, 1);
}

}  // namespace margin
