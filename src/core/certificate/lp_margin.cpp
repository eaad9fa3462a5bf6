#include "core/certificate/lp_margin.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/progress.hpp"
#include "core/math/norm.hpp"
#include "core/math/rounding.hpp"

namespace margin {

NormCheck::NormCheck(std::int32_t classes, std::int32_t dimensions, double norm, const double* weights,
                     const double* intercept, bool free_intercept, bool with_dual)
    : dimensions_(dimensions),
      outputs_(classes == 2 ? 1 : classes),
      norm_(norm),
      weights_(weights),
      intercept_(intercept),
      free_intercept_(free_intercept),
      with_dual_(with_dual),
      smallest_(static_cast<std::size_t>(outputs_), infinity) {
  if (!with_dual) return;
  sums_ = Weights::Zero(2 * outputs_, dimensions);
  mass_.assign(2 * static_cast<std::size_t>(outputs_), 0.0);
  terms_.assign(static_cast<std::size_t>(outputs_), 0);
}

double NormCheck::margin_of(const Row& x, std::int32_t label, std::int32_t o) const {
  const double score = dot(x, weights_of(o)) + (intercept_ != nullptr ? intercept_[o] : 0.0);
  if (!std::isfinite(score)) return -infinity;  // an overflow proves nothing
  return belongs(label, o) ? score : -score;
}

std::string NormCheck::reductions() const { return "++>" + std::string(static_cast<std::size_t>(outputs_), '<'); }

void NormCheck::measure(const CheckedRow& row, double* numbers, double* coefficients) {
  numbers[0] = 1;
  numbers[1] = 0;
  numbers[2] = norm(row.x);
  for (std::int32_t o = 0; o < outputs_; ++o) {
    numbers[3 + o] = margin_of(row.x, row.label, o);
    if (!(numbers[3 + o] > 0)) numbers[1] = 1;
    coefficients[o] = 0;
  }
}

void NormCheck::add(const Row& x, std::int32_t label, const double* q) {
  ++rows_;
  radius_ = std::max(radius_, norm(x));
  bool wrong = false, carries = false;
  for (std::int32_t o = 0; o < outputs_; ++o) {
    const auto at = static_cast<std::size_t>(o);
    const bool own = belongs(label, o);
    const double margin = margin_of(x, label, o);
    smallest_[at] = std::min(smallest_[at], margin);
    wrong |= !(margin > 0);
    if (!with_dual_ || q == nullptr || !(q[o] > 0)) continue;
    carries = true;
    ++terms_[at];
    mass_[2 * at + (own ? 1 : 0)] += q[o];
    margin::add(q[o], x, sums_.row(2 * o + (own ? 1 : 0)).data());
  }
  errors_ += wrong;
  support_ += carries;
}

void NormCheck::widen(std::int32_t dimensions, const double* weights) {
  dimensions_ = dimensions;
  weights_ = weights;
  if (with_dual_) margin::widen(sums_, dimensions);
}

std::unique_ptr<Check> NormCheck::part() const {
  return std::make_unique<NormCheck>(outputs_ == 1 ? 2 : outputs_, dimensions_, norm_, weights_, intercept_,
                                     free_intercept_, with_dual_);
}

// However they are added up, a term of a sum meets fewer roundings than there are terms.
void NormCheck::add_part(Check& other) {
  const auto& part = static_cast<const NormCheck&>(other);
  rows_ += part.rows_;
  support_ += part.support_;
  errors_ += part.errors_;
  radius_ = std::max(radius_, part.radius_);
  for (std::size_t o = 0; o < smallest_.size(); ++o) smallest_[o] = std::min(smallest_[o], part.smallest_[o]);
  if (!with_dual_) return;
  sums_ += part.sums_;
  for (std::size_t k = 0; k < mass_.size(); ++k) mass_[k] += part.mass_[k];
  for (std::size_t o = 0; o < terms_.size(); ++o) terms_[o] += part.terms_[o];
}

double NormCheck::radius() const { return radius_ * (1 + epsilon * (dimensions_ + 4.0)); }

double NormCheck::lower(std::int32_t o) const {
  if (rows_ == 0) return -infinity;
  const double size = lp_norm(weights_of(o), dimensions_, norm_);
  if (size == 0) return 0;
  if (!(size < infinity)) return -infinity;
  // A dot product errs by at most (d + 2) ε Σ |x_j w_j| ≤ (d + 2) ε ‖x‖_r ‖w‖_p, and ‖x‖_r ≤ ‖x‖₂ because r ≥ 2.
  const double b = intercept_ != nullptr ? std::fabs(intercept_[o]) : 0.0;
  const double terms = dimensions_ + 2.0;  // each of which may vanish
  const double rounding = epsilon * (terms * radius_ + 2 * (b / size)) + terms * tiny / size + tiny;
  const double value = smallest_[static_cast<std::size_t>(o)] / size;
  const double lower = value - rounding - ((dimensions_ + 20.0) * epsilon + tiny / size) * std::fabs(value);
  return std::isfinite(lower) ? lower : -infinity;
}

double NormCheck::upper(std::int32_t o) const {
  if (!with_dual_) return radius();
  const auto at = static_cast<std::size_t>(o);
  const double rest = mass_[2 * at], own = mass_[2 * at + 1], total = rest + own;
  if (!(total >= smallest_normal) || !std::isfinite(total)) return radius();
  double least = total;  // what products q x that vanished are divided by
  double minus = -1 / total, plus = 1 / total;
  if (free_intercept_) {  // each side is its own simplex; half the distance of the two hull points
    least = std::min(rest, own);
    if (!(least >= smallest_normal)) return radius();
    minus = -0.5 / rest;
    plus = 0.5 / own;
  }
  const Eigen::RowVectorXd v = minus * sums_.row(2 * o) + plus * sums_.row(2 * o + 1);
  if (!simd().finite_d(v.data(), static_cast<std::size_t>(v.size()))) return radius();
  const double value = lp_norm(v.data(), v.size(), dual_exponent(norm_));
  // A component sums at most `terms` products; ‖·‖_r of all their errors is at most that share of the radius.
  const double terms = static_cast<double>(terms_[at]) + 4;
  const double rounding = epsilon * terms * radius_ + terms * dimensions_ * (tiny / least) + tiny;
  return std::min(radius(), value * (1 + epsilon * (dimensions_ + 20.0)) + rounding);
}

double NormCheck::lower() const {
  double least = infinity;
  for (std::int32_t o = 0; o < outputs_; ++o) least = std::min(least, lower(o));
  return least;
}

double NormCheck::upper() const {
  double least = infinity;
  for (std::int32_t o = 0; o < outputs_; ++o) least = std::min(least, upper(o));
  return least;
}

double NormCheck::relative_gap() const {
  double largest = 0;
  for (std::int32_t o = 0; o < outputs_; ++o) {
    const double high = upper(o);
    if (high > 0) largest = std::max(largest, (high - lower(o)) / high);
  }
  return largest;
}

std::vector<double> NormCheck::state() const {
  std::vector<double> out = {static_cast<double>(rows_), static_cast<double>(errors_), radius_};
  out.insert(out.end(), smallest_.begin(), smallest_.end());
  return out;
}

bool NormCheck::merge(const std::vector<double>& state) {
  if (state.size() != 3 + smallest_.size() || !(state[0] >= 0) || !(state[1] >= 0) || !(state[0] < 1e18) ||
      !(state[1] <= state[0]))
    return false;
  rows_ += static_cast<std::int64_t>(state[0]);
  errors_ += static_cast<std::int64_t>(state[1]);
  radius_ = std::max(radius_, state[2]);
  for (std::size_t o = 0; o < smallest_.size(); ++o) smallest_[o] = std::min(smallest_[o], state[3 + o]);
  return true;
}

Certificate NormCheck::certificate(const Progress&) const {
  Certificate c;
  c.radius = radius();
  c.lower = lower();
  c.upper = upper();
  c.gap = c.upper - c.lower;
  c.relative_gap = relative_gap();
  c.support = support_;
  c.errors = errors_;
  c.failure = static_cast<double>(errors_);
  return c;
}

}  // namespace margin
