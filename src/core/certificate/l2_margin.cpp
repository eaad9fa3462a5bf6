#include "core/certificate/l2_margin.hpp"

#include <algorithm>
#include <cmath>

#include "core/math/norm.hpp"
#include "core/math/rounding.hpp"

namespace margin {

MarginCheck::MarginCheck(std::int32_t classes, std::int32_t dimensions, const double* weights, const double* intercept,
                         bool free_intercept, bool with_dual)
    : classes_(classes),
      dimensions_(dimensions),
      outputs_(classes == 2 ? 1 : classes),
      weights_(weights),
      intercept_(intercept),
      free_intercept_(free_intercept),
      with_dual_(with_dual),
      smallest_(infinity),
      scores_(static_cast<std::size_t>(outputs_)) {
  if (!with_dual) return;
  sums_ = Weights::Zero(classes, dimensions);
  mass_.assign(static_cast<std::size_t>(classes), 0.0);
  balance_.assign(static_cast<std::size_t>(classes), 0.0);
}

double MarginCheck::margin_of(const Row& x, std::int32_t label) {
  for (std::int32_t o = 0; o < outputs_; ++o)
    scores_[static_cast<std::size_t>(o)] =
        dot(x, weights_ + static_cast<std::ptrdiff_t>(o) * dimensions_) + (intercept_ != nullptr ? intercept_[o] : 0.0);
  double margin = infinity;
  if (outputs_ == 1) {
    margin = label == 1 ? scores_[0] : -scores_[0];
  } else {
    for (std::int32_t c = 0; c < classes_; ++c)
      if (c != label)
        margin = std::min(margin, scores_[static_cast<std::size_t>(label)] - scores_[static_cast<std::size_t>(c)]);
  }
  return simd().finite_d(scores_.data(), scores_.size()) ? margin : -infinity;  // an overflow proves nothing
}

void MarginCheck::measure(const CheckedRow& row, double* numbers, double* coefficients) {
  const double margin = margin_of(row.x, row.label);
  numbers[0] = 1;
  numbers[1] = margin > 0 ? 0 : 1;
  numbers[2] = margin;
  numbers[3] = norm(row.x);
  std::fill_n(coefficients, outputs_, 0.0);
}

void MarginCheck::add(const Row& x, std::int32_t label, const double* q) {
  ++rows_;
  radius_ = std::max(radius_, norm(x));
  const double margin = margin_of(x, label);
  smallest_ = std::min(smallest_, margin);
  if (!(margin > 0)) ++errors_;
  if (!with_dual_ || q == nullptr) return;

  if (outputs_ == 1) {
    if (!(q[0] > 0)) return;
    ++support_;
    mass_[static_cast<std::size_t>(label)] += q[0];
    margin::add(q[0], x, sums_.row(label).data());
    return;
  }
  double total = 0;
  for (std::int32_t c = 0; c < classes_; ++c) {
    if (c == label || !(q[c] > 0)) continue;
    total += q[c];
    balance_[static_cast<std::size_t>(c)] -= q[c];
    margin::add(-q[c], x, sums_.row(c).data());
  }
  if (total == 0) return;
  ++support_;
  mass_[static_cast<std::size_t>(label)] += total;
  balance_[static_cast<std::size_t>(label)] += total;
  margin::add(total, x, sums_.row(label).data());
}

void MarginCheck::widen(std::int32_t dimensions, const double* weights) {
  dimensions_ = dimensions;
  weights_ = weights;
  if (with_dual_) margin::widen(sums_, dimensions);
}

std::vector<double> MarginCheck::state() const {
  return {static_cast<double>(rows_), static_cast<double>(errors_), smallest_, radius_};
}

bool MarginCheck::merge(const std::vector<double>& s) {
  if (s.size() != 4 || !(s[0] >= 0 && s[0] <= 0x1p53) || !(s[1] >= 0 && s[1] <= s[0])) return false;
  rows_ += static_cast<std::int64_t>(s[0]);
  errors_ += static_cast<std::int64_t>(s[1]);
  smallest_ = std::min(smallest_, s[2]);
  radius_ = std::max(radius_, s[3]);
  return true;
}

std::unique_ptr<Check> MarginCheck::part() const {
  return std::make_unique<MarginCheck>(classes_, dimensions_, weights_, intercept_, free_intercept_, with_dual_);
}

// However they are added up, a term of a sum meets fewer roundings than there are terms.
void MarginCheck::add_part(Check& other) {
  const auto& part = static_cast<const MarginCheck&>(other);
  rows_ += part.rows_;
  support_ += part.support_;
  errors_ += part.errors_;
  smallest_ = std::min(smallest_, part.smallest_);
  radius_ = std::max(radius_, part.radius_);
  if (!with_dual_) return;
  sums_ += part.sums_;
  for (std::size_t c = 0; c < mass_.size(); ++c) {
    mass_[c] += part.mass_[c];
    balance_[c] += part.balance_[c];
  }
}

/// The left side of the header's inequality.
double MarginCheck::lower() const {
  if (rows_ == 0) return -infinity;
  const double norm = lp_norm(weights_, static_cast<Eigen::Index>(outputs_) * dimensions_, 2);
  if (norm == 0) return 0;
  if (!(norm < infinity)) return -infinity;
  // A dot product of d terms, and the sum with b, err by at most (d + 2) ε ‖x‖ ‖w‖ (+ ε |b|), and terms may vanish.
  double largest_intercept = 0;
  for (std::int32_t o = 0; intercept_ != nullptr && o < outputs_; ++o)
    largest_intercept = std::max(largest_intercept, std::fabs(intercept_[o]));
  const double terms = (outputs_ == 1 ? 1.0 : 2.0) * (dimensions_ + 2.0);
  const double rounding = epsilon * (terms * radius_ + 2 * (largest_intercept / norm)) + terms * tiny / norm + tiny;
  const double value = smallest_ / norm;
  const double lower = value - rounding - (epsilon * (outputs_ * (dimensions_ + 4.0)) + tiny / norm) * std::fabs(value);
  return std::isfinite(lower) ? lower : -infinity;
}

/// The right side of the header's inequality.
double MarginCheck::upper() const {
  if (!with_dual_ || support_ == 0) return infinity;
  double total = 0;
  for (const double m : mass_) total += m;
  if (!(total >= smallest_normal) || !std::isfinite(total)) return infinity;
  const auto d = static_cast<std::size_t>(dimensions_);
  double least = total;  // what products q x that vanished are divided by
  double value = 0;
  if (outputs_ == 1) {
    std::vector<double> v(d);
    double minus = -1 / total, plus = 1 / total;
    if (free_intercept_) {  // each class is its own simplex; half the distance of the two hull points
      least = std::min(mass_[0], mass_[1]);
      if (!(least >= smallest_normal)) return infinity;
      minus = -0.5 / mass_[0];
      plus = 0.5 / mass_[1];
    }
    for (std::size_t j = 0; j < d; ++j)
      v[j] = minus * sums_(0, static_cast<Eigen::Index>(j)) + plus * sums_(1, static_cast<Eigen::Index>(j));
    if (!simd().finite_d(v.data(), d)) return infinity;
    value = lp_norm(v.data(), static_cast<Eigen::Index>(d), 2);
  } else {
    if (!simd().finite_d(sums_.data(), static_cast<std::size_t>(sums_.size()))) return infinity;
    value = lp_norm(sums_.data(), sums_.size(), 2) / total;
    if (free_intercept_) {
      double imbalance = 0;
      for (const double b : balance_) {
        if (std::fabs(b) > 1e-9 * total) return infinity;
        imbalance += std::fabs(b) / total;
      }
      // What is left of the intercepts: |b_a − b_c| ≤ √2 R for the best separator of norm 1, or its margin were < 0.
      value += std::sqrt(0.5) * radius_ * imbalance;
    }
  }
  // Each component sums at most `support` products; the norm adds d more roundings.
  const double terms = static_cast<double>(support_) + 4;
  const double components = static_cast<double>(d) * (outputs_ == 1 ? 1.0 : classes_);
  const double upper = value * (1 + epsilon * (components + 8.0)) +
                       epsilon * terms * radius_ * (outputs_ == 1 ? 1.0 : 2.0) + terms * components * (tiny / least) +
                       tiny;
  return std::isnan(upper) ? infinity : upper;
}

Certificate MarginCheck::certificate(const Progress&) const {
  Certificate c;
  c.radius = radius();
  c.lower = lower();
  c.upper = upper();
  c.support = support_;
  c.errors = errors_;
  c.failure = static_cast<double>(errors_);
  set_margin_gap(c);
  return c;
}

}  // namespace margin
