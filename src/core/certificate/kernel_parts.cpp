#include "core/certificate/kernel_parts.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/progress.hpp"
#include "core/math/norm.hpp"
#include "core/math/rounding.hpp"

namespace margin {

double Enclosure::above() const { return std::max(0.0, or_infinity(value + error)) * (1 + 4 * epsilon); }
double Enclosure::below() const { return std::max(0.0, value - error) * (1 - 4 * epsilon); }

KernelSum::KernelSum(Weights coefficients, const std::vector<double>& lengths)
    : coefficients_(std::move(coefficients)), absolute_(coefficients_.cwiseAbs()) {
  for (const double length : lengths) length_ += length;
  size_ = absolute_ * Eigen::Map<const Eigen::VectorXd>(lengths.data(), static_cast<Eigen::Index>(lengths.size()));
}

Enclosure KernelSum::operator()(std::int32_t o, const double* values, const double* errors, double length) const {
  const std::size_t n = terms();
  const double ulps = epsilon * static_cast<double>(n);
  return {simd().dot_dd(values, coefficients_.row(o).data(), n),
          simd().dot_dd(errors, absolute_.row(o).data(), n) * (1 + ulps) + (ulps + 4 * epsilon) * size_(o) * length +
              tiny * (2 * static_cast<double>(n) + 4 + length_ * length)};
}

Enclosure KernelSum::up_to(std::int32_t o, std::size_t s, const double* values, const double* errors,
                           double length) const {
  const double ulps = epsilon * static_cast<double>(s + 2), *c = coefficients_.row(o).data();
  return {2 * simd().dot_dd(values, c, s) + c[s] * values[s],
          2 * (simd().dot_dd(errors, absolute_.row(o).data(), s + 1) * (1 + ulps) +
               (ulps + 4 * epsilon) * size_(o) * length + tiny * (2 * static_cast<double>(s) + 6 + length_ * length))};
}

void KernelSum::add_to_norm(Enclosure& norm, std::int32_t o, std::size_t s, const Enclosure& score) const {
  const double c = coefficients_(o, static_cast<Eigen::Index>(s));
  norm.value += c * score.value;
  norm.error +=
      std::fabs(c) * (score.error + epsilon * static_cast<double>(terms()) * std::fabs(score.value)) + 2 * tiny;
}

std::vector<double> lengths_of(const KernelRows& rows) {
  std::vector<double> lengths(rows.size());
  for (std::size_t s = 0; s < rows.size(); ++s) lengths[s] = std::sqrt(rows.diagonal(s));
  return lengths;
}

void set_diagonal(double diagonal, std::int32_t dimensions, double& value, double& error) {
  value = diagonal;
  error = std::min(error, epsilon * (dimensions + 8.0) * 200 * diagonal + (dimensions + 8.0) * tiny);
}

std::vector<Enclosure> squared_norms(const KernelRows& rows, const KernelSum& sum, const Progress& progress) {
  const std::size_t n = rows.size();
  std::vector<Enclosure> norms(static_cast<std::size_t>(sum.outputs()));
  std::vector<double> values(n), errors(n);
  KernelPoint point;
  for (std::size_t s = 0; s < n; ++s) {
    rows.set(point, s);
    for (std::size_t from = 0; from <= s; from += rows_of_poll) {
      const std::size_t to = std::min(s + 1, from + rows_of_poll);
      double *value_at = values.data() + from, *error_at = errors.data() + from;
      rows.evaluate({&point}, from, to, &value_at, &error_at);
      progress.work(static_cast<double>(to - from) * (rows.operations() + 4 + 2 * sum.outputs()));
    }
    const double diagonal = rows.diagonal(s);
    set_diagonal(diagonal, rows.dimensions(), values[s], errors[s]);
    for (std::int32_t o = 0; o < sum.outputs(); ++o)
      sum.add_to_norm(norms[static_cast<std::size_t>(o)], o, s,
                      sum.up_to(o, s, values.data(), errors.data(), std::sqrt(diagonal)));
  }
  return norms;
}

KernelTally::KernelTally(const Objective& objective, const double* intercept)
    : objective_(objective),
      intercept_(intercept),
      smallest_(infinity),
      loss_(static_cast<std::size_t>(objective.outputs()), 0.0) {}

void KernelTally::add(std::vector<Enclosure>& scores, double length, const CheckedRow& row) {
  const double weight = row.loss_weight;
  const bool regression = objective_.task == Task::regression;
  ++rows_;
  total_weight_.add(row.sample_weight);
  radius_ = std::max(radius_, or_infinity(length));
  for (std::int32_t o = 0; o < objective_.outputs(); ++o) {
    Enclosure& f = scores[static_cast<std::size_t>(o)];
    if (intercept_ != nullptr) {
      f.value += intercept_[o];
      f.error += epsilon * (std::fabs(f.value) + std::fabs(intercept_[o]));
    }
    if (objective_.hard_margin() || !(weight > 0)) continue;
    const double y = regression ? row.target : objective_.target(row.label, o);
    // u − y has an ulp of its own, which is all that is left of it where |u − y| is nearly a tube's width.
    const double error = regression ? f.error + 2 * epsilon * (std::fabs(f.value) + std::fabs(y)) : f.error;
    // P of certificate/kernel.hpp. A convex loss is largest at an end of the interval that holds the score.
    const double value = std::max(or_infinity(objective_.loss->value(f.value - error, y)),
                                  or_infinity(objective_.loss->value(f.value + error, y)));
    loss_[static_cast<std::size_t>(o)] += weight * value * (1 + 8 * epsilon) + (value > 0 ? tiny : 0.0);
  }
  if (regression) return;
  const double m = margin(scores, row.label);
  smallest_ = std::min(smallest_, std::isnan(m) ? -infinity : m);
  errors_ += !(m > 0);
  if (predicted(scores) != row.label) error_weight_ += weight;
}

double KernelTally::failure() const {
  if (objective_.one_class()) return 0;
  return objective_.task == Task::regression ? loss_[0] / total_weight() : error_weight_;
}

/// As decide().
std::int32_t KernelTally::predicted(const std::vector<Enclosure>& scores) const {
  if (objective_.task == Task::binary) return scores[0].value > 0 ? 1 : 0;
  const auto best = std::max_element(scores.begin(), scores.end(),
                                     [](const Enclosure& a, const Enclosure& b) { return a.value < b.value; });
  return static_cast<std::int32_t>(best - scores.begin());
}

/// Rounded down; NaN when nothing is known.
double KernelTally::margin(const std::vector<Enclosure>& scores, std::int32_t label) const {
  if (objective_.task == Task::binary) return (label == 1 ? scores[0].value : -scores[0].value) - scores[0].error;
  const Enclosure& mine = scores[static_cast<std::size_t>(label)];
  double least = infinity;
  for (std::int32_t c = 0; c < objective_.classes; ++c) {
    if (c == label) continue;
    const Enclosure& other = scores[static_cast<std::size_t>(c)];
    const double lead = mine.value - other.value;
    const double margin = lead - mine.error - other.error -
                          epsilon * (2 * std::fabs(lead) + std::fabs(mine.value) + std::fabs(other.value));
    if (std::isnan(margin)) return margin;
    least = std::min(least, margin);
  }
  return least;
}

double KernelTally::radius() const { return radius_ * (1 + epsilon * (objective_.dimensions + 8.0)); }

bool KernelTally::has_intercept() const {
  for (std::int32_t o = 0; intercept_ != nullptr && o < objective_.outputs(); ++o)
    if (intercept_[o] != 0) return true;
  return false;
}

double KernelTally::mean_loss(std::int32_t o) const {
  const double sum = loss_[static_cast<std::size_t>(o)];
  if (!(total_weight() < infinity)) return infinity;
  return sum * (1 + epsilon * static_cast<double>(rows_ + 8)) / total_weight() + (sum > 0 ? tiny : 0.0);
}

std::vector<double> KernelTally::state() const {
  std::vector<double> s = {static_cast<double>(rows_), static_cast<double>(errors_), smallest_, radius_,
                           total_weight()};
  s.insert(s.end(), loss_.begin(), loss_.end());
  return s;
}

bool KernelTally::merge(const std::vector<double>& s) {
  if (s.size() != 5 + loss_.size() || !(s[0] >= 0 && s[0] <= 0x1p53) || !(s[1] >= 0 && s[1] <= s[0])) return false;
  rows_ += static_cast<std::int64_t>(s[0]);
  errors_ += static_cast<std::int64_t>(s[1]);
  smallest_ = std::min(smallest_, s[2]);
  radius_ = std::max(radius_, s[3]);
  total_weight_.add(s[4]);
  for (std::size_t o = 0; o < loss_.size(); ++o) loss_[o] += s[5 + o];
  return true;
}

bool KernelDual::add(const CheckedRow& row, const double* q) {
  bool any = false;
  for (std::int32_t o = 0; o < objective_.outputs(); ++o) any |= std::fabs(q[o]) > 0;
  if (!any) return false;
  label_.push_back(row.label);
  if (objective_.task == Task::regression) target_.push_back(row.target);
  weight_.push_back(row.loss_weight);
  q_.insert(q_.end(), q, q + objective_.outputs());
  return true;
}

KernelDual::Scaled KernelDual::scaled(double total_weight) const {
  Scaled out;
  out.coefficients = Weights::Zero(objective_.outputs(), terms());
  out.linear.assign(static_cast<std::size_t>(objective_.outputs()), 0.0);
  out.left = out.mass = out.size = out.linear;
  out.scale.assign(out.linear.size(), 1.0);
  if (terms() == 0)
    out.imbalance = infinity;
  else if (!objective_.hard_margin())
    scale_soft(out, total_weight);
  else if (objective_.task == Task::binary)
    scale_hard_binary(out);
  else
    scale_hard_multiclass(out);
  return out;
}

void KernelDual::scale_hard_binary(Scaled& out) const {
  double mass[2] = {0, 0};
  for (std::int64_t t = 0; t < terms(); ++t)
    if (q(t, 0) > 0) mass[label(t)] += q(t, 0);
  double factor[2];
  for (int c = 0; c < 2; ++c) {
    if (objective_.intercept && !(mass[c] > 0)) out.imbalance = infinity;
    factor[c] = objective_.intercept ? 0.5 / mass[c] : 1 / (mass[0] + mass[1]);
    if (!std::isfinite(factor[c]) || !(factor[c] >= smallest_normal)) out.imbalance = infinity;
  }
  if (out.imbalance > 0) return;
  for (std::int64_t t = 0; t < terms(); ++t)
    if (q(t, 0) > 0) out.coefficients(0, t) = objective_.target(label(t), 0) * q(t, 0) * factor[label(t)];
}

void KernelDual::scale_hard_multiclass(Scaled& out) const {
  double total = 0;
  Eigen::VectorXd balance = Eigen::VectorXd::Zero(objective_.classes);
  for (std::int64_t t = 0; t < terms(); ++t) {
    const std::int32_t own = label(t);
    for (std::int32_t c = 0; c < objective_.classes; ++c) {
      if (c == own || !(q(t, c) > 0)) continue;
      out.coefficients(own, t) += q(t, c);
      out.coefficients(c, t) -= q(t, c);
      total += q(t, c);
      balance(own) += q(t, c);
      balance(c) -= q(t, c);
    }
  }
  if (!(total > 0) || !std::isfinite(total)) {
    out.imbalance = infinity;
    return;
  }
  out.coefficients /= total;
  if (!objective_.intercept) return;
  out.imbalance = balance.cwiseAbs().sum() / total;
  if (balance.cwiseAbs().maxCoeff() > 1e-9 * total) out.imbalance = infinity;
}

/// v and the first term of D of certificate/kernel.hpp, the heavier sign scaled down to Σ c a = 0.
void KernelDual::scale_soft(Scaled& out, double total_weight) const {
  const Loss& loss = *objective_.loss;
  const bool one_class = objective_.one_class();
  for (std::int32_t o = 0; o < objective_.outputs(); ++o) {
    auto weight = [&](std::int64_t t) { return weight_[static_cast<std::size_t>(t)]; };
    auto a = [&](std::int64_t t) { return loss.project(std::isnan(q(t, o)) ? 0.0 : q(t, o), target(t, o)); };
    double mass[2] = {0, 0}, factor[2] = {1, 1};
    for (std::int64_t t = 0; t < terms(); ++t) mass[a(t) > 0 ? 1 : 0] += weight(t) * std::fabs(a(t));
    if (one_class)
      factor[1] = mass[1] > total_weight ? total_weight / mass[1] : 1.0;
    else if (objective_.intercept)
      for (int c = 0; c < 2; ++c)
        if (mass[c] > 0) factor[c] = std::min(1.0, mass[1 - c] / mass[c]);
    // The square of a small v would vanish: it is taken of v times a power of two.
    double largest = 0;
    for (std::int64_t t = 0; t < terms(); ++t)
      largest = std::max(largest, weight(t) * std::fabs(a(t)) * factor[a(t) > 0 ? 1 : 0] / total_weight);
    const auto at = static_cast<std::size_t>(o);
    out.scale[at] = std::isfinite(largest) ? unit_scale(largest) : 1.0;
    ExactSum sum, rest;
    double size = 0, vanished = 0, absolute = 0;
    for (std::int64_t t = 0; t < terms(); ++t) {
      const double v = a(t) * factor[a(t) > 0 ? 1 : 0], c = weight(t);
      if (v == 0 || !(c > 0)) continue;
      // The scaled value is the dual vector now, as it stands.
      const double conjugate = loss.conjugate(v, target(t, o));
      sum.add(-c * conjugate);
      rest.add(c * v);
      rest.add(std::fma(c, v, -(c * v)));
      size += c * (std::fabs(conjugate) + std::fabs(v) * (1 + std::fabs(target(t, o))));
      absolute += c * std::fabs(v);
      vanished += tiny * (c + 4);
      out.coefficients(o, t) = c / total_weight * (v * out.scale[at]);
    }
    if (one_class) rest.add(-total_weight);
    out.linear[at] = (sum.value() - 8 * epsilon * size - vanished) / total_weight;
    const double unseen = 8 * epsilon * (one_class ? total_weight : absolute * epsilon) + vanished;
    out.left[at] = (std::fabs(rest.value()) + unseen) / total_weight;
    out.mass[at] = absolute / total_weight;
    out.size[at] = size / total_weight;
  }
}

/// No margin is larger, and none without an intercept further below 0.
static double largest_margin(const Objective& p, const KernelTally& tally) {
  return tally.radius() * (p.task == Task::multiclass ? std::sqrt(2.0) : 1.0) * (1 + 2 * epsilon);
}

double kernel_margin_lower(const Objective& objective, const KernelTally& tally, const KernelPrimal& primal) {
  Enclosure square;
  for (const Enclosure& m : primal.norm) square = {square.value + m.value, square.error + m.error};
  if (tally.rows() == 0 || tally.smallest() == -infinity || !std::isfinite(square.value)) return -infinity;
  const double norm = std::sqrt(tally.smallest() > 0 ? square.above() : square.below());
  if (norm > 0) {
    const double lower = tally.smallest() / norm;
    return lower - 4 * epsilon * std::fabs(lower);
  }
  if (primal.sum.zero()) return 0;
  // Where rounding leaves no certain norm above 0, a margin of 0 or less has only the bound of Cauchy and Schwarz, and
  // none with an intercept.
  return tally.has_intercept() ? -infinity : -largest_margin(objective, tally);
}

namespace {

Certificate hard_certificate(const Objective& p, const KernelTally& tally, const KernelPrimal& primal,
                             const KernelDual::Scaled& v, std::int64_t terms, const std::vector<Enclosure>& dual_norm) {
  Certificate c;
  Enclosure dual;
  for (const Enclosure& m : dual_norm) dual = {dual.value + m.value, dual.error + m.error};
  c.lower = kernel_margin_lower(p, tally, primal);
  c.radius = tally.radius();
  c.upper = largest_margin(p, tally);
  if (v.imbalance < infinity && terms > 0) {
    // Normalising moved every weight by some ulps; an imbalance meets intercepts of at most √2 R
    // (certificate/l2_margin.cpp).
    const double moved = epsilon * (static_cast<double>(terms) + 8) * c.radius * std::sqrt(2.0);
    c.upper = std::min(c.upper,
                       std::sqrt(dual.above()) * (1 + 4 * epsilon) + moved + std::sqrt(0.5) * c.radius * v.imbalance);
  }
  c.errors = tally.errors();
  c.failure = tally.failure();
  c.gap = c.upper - c.lower;
  c.relative_gap = c.upper > 0 ? c.gap / c.upper : 0;
  return c;
}

/// What the value of the dual vector of an output loses to the sum that the free intercept wants it to have.
struct Imbalance {
  double off_norm = 0, off_value = 0;  // of ‖v‖, of the dual value
};

Imbalance imbalance_of(const Objective& p, double radius, const KernelDual::Scaled& v, std::size_t o) {
  if (!p.intercept || v.left[o] == 0) return {};
  // An optimal ρ is w(x) of some row, and an optimal w is a mean of rows: ρ ≤ R².
  if (p.one_class()) return {0, v.left[o] * radius * radius * (1 + 16 * epsilon)};
  // The share that the heavier side, at least half of all, would have to give up. |φ*(−θa)| ≤ |φ*(−a)| + |a y| for any
  // θ ≤ 1, as the losses' φ* are.
  const double share = v.mass[o] > 0 ? 2 * v.left[o] / v.mass[o] * (1 + 16 * epsilon) : 0.0;
  if (!(share <= 1)) return {infinity, infinity};
  return {share * v.mass[o] * radius * (1 + 16 * epsilon), share * v.size[o] * (1 + 16 * epsilon)};
}

/// A lower bound of the optimal value of an output. `square`: of scale × v.
double soft_dual(const Objective& p, double radius, const KernelDual::Scaled& v, std::size_t o,
                 const Enclosure& square) {
  const Imbalance off = imbalance_of(p, radius, v, o);
  const double scale = v.scale[o];
  double penalty;
  if (off.off_norm > 0) {
    const double norm = std::sqrt(square.above()) * (1 + 2 * epsilon) / scale + tiny + off.off_norm;
    penalty = norm / (2 * p.lambda) * norm * (1 + 8 * epsilon) + tiny;
  } else {
    const double over_once = square.above() / scale + tiny;
    penalty = (over_once / (2 * p.lambda) + tiny) / scale * (1 + 8 * epsilon) + tiny;
  }
  return (v.linear[o] - penalty - off.off_value) - 8 * epsilon * std::fabs(v.linear[o]) - 2 * tiny;
}

Certificate soft_certificate(const Objective& p, const KernelTally& tally, const KernelPrimal& w,
                             const KernelDual::Scaled& v, const std::vector<Enclosure>& dual_norm) {
  Certificate c;
  c.radius = tally.radius();
  // Any w has P ≥ 0; of a one-class machine the best one is a mean of rows.
  const double known = p.one_class() ? -0.5 * c.radius * c.radius * (1 + 8 * epsilon) - tiny : 0;
  for (std::int32_t o = 0; o < p.outputs(); ++o) {
    const auto at = static_cast<std::size_t>(o);
    const double size = w.norm[at].above();
    double primal =
        or_infinity((0.5 * p.lambda * size + tally.mean_loss(o)) * (1 + 8 * epsilon) + (size > 0 ? tiny : 0.0));
    if (p.one_class()) primal += tally.intercept() + 2 * epsilon * (primal + std::fabs(tally.intercept()));
    const double dual = soft_dual(p, c.radius, v, at, dual_norm[at]);
    c.upper += primal;
    c.lower += std::isfinite(dual) ? std::max(dual, known) : known;
  }
  c.upper += epsilon * p.outputs() * std::fabs(c.upper);
  c.lower = std::min(c.lower - epsilon * p.outputs() * std::fabs(c.lower), c.upper);
  if (!(c.upper < infinity)) c.upper = infinity;
  set_minimum_gap(c);
  c.errors = tally.errors();
  c.failure = tally.failure();
  return c;
}

}  // namespace

Certificate kernel_certificate(const Objective& objective, const KernelTally& tally, const KernelPrimal& primal,
                               const KernelDual::Scaled& dual, std::int64_t terms,
                               const std::vector<Enclosure>& dual_norm) {
  Certificate c = objective.hard_margin() ? hard_certificate(objective, tally, primal, dual, terms, dual_norm)
                                          : soft_certificate(objective, tally, primal, dual, dual_norm);
  if (objective.task != Task::regression) c.smallest_margin = kernel_margin_lower(objective, tally, primal);
  c.support = terms;
  return c;
}

}  // namespace margin
