#include "core/certificate/column_check.hpp"

#include <algorithm>
#include <cmath>

#include "core/loss/chunk.hpp"
#include "core/math/norm.hpp"
#include "core/math/rounding.hpp"
#include "core/problem/offset.hpp"

namespace margin {

namespace {

constexpr std::size_t chunk = 1024;  // rows that are summed on their own first

/// Roundings of a sum of n terms that is made of chunks.
double roundings(double n) { return static_cast<double>(chunk) + n / static_cast<double>(chunk) + 16; }

}  // namespace

ColumnCheck::ColumnCheck(const Problem& p, const Progress& progress)
    : problem_(p),
      progress_(progress),
      columns_(p.data, progress),
      constant_(!p.intercept       ? 0
                : p.free_intercept ? 1
                                   : p.intercept_scale) {
  const auto n = static_cast<std::size_t>(p.rows()), d = static_cast<std::size_t>(p.dimensions());
  for (std::vector<double>* const v : {&norms_, &cost_, &y_, &u_, &slope_, &weighted_}) v->resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto row = static_cast<std::int64_t>(i);
    const Row x = p.data.row(row);
    cost_[i] = p.weight(row);
    y_[i] = p.target(row, 0);
    norms_[i] = norm(x) * (1 + 8 * epsilon);
    squares_ += cost_[i] * norms_[i] * norms_[i];
    weight_ += cost_[i];
    progress.work(x.count + 8.0);
  }
  const double up = 1 + (static_cast<double>(n) + 8) * epsilon;
  squares_ *= up;
  weight_ *= up;
  lengths_.resize(d);
  for (std::size_t j = 0; j < d; ++j) {
    const Row x = columns_.column(static_cast<std::int32_t>(j));
    lengths_[j] = norm(x) * (1 + (x.count + 8.0) * epsilon) + std::sqrt(tiny * (x.count + 1.0));
    progress.work(x.count + 8.0);
  }
  v_.assign(d, 0.0);
  known_.assign(d, 0);
}

double ColumnCheck::bytes(const Problem& p) {
  return 8 * 7.0 * static_cast<double>(p.rows()) + 8 * 4.0 * p.dimensions();
}

Certificate ColumnCheck::certificate(const std::vector<double>& w, double b, double intercept, double lambda) {
  const auto n = static_cast<double>(u_.size());
  const double total = problem_.total_weight, curvature = 1 / problem_.smoothness();
  Certificate out;
  score(w, b);
  const Sums at = evaluate(out);

  std::size_t terms = 0;
  double squares = 0, absolute = 0;
  for (std::size_t j = 0; j < w.size(); ++j) {
    if (w[j] == 0) continue;
    ++terms;
    squares += w[j] * w[j];
    if (!penalizes(j)) continue;
    absolute += problem_.factor(j) * std::fabs(w[j]);
    if (problem_.positive && w[j] < 0) out.upper = infinity;
  }
  double penalised_squares = squares;
  if (problem_.offset >= 0 || !problem_.penalty_factor.empty()) {
    penalised_squares = 0;
    for (std::size_t j = 0; j < w.size(); ++j)
      if (penalizes(j)) penalised_squares += problem_.factor(j) * w[j] * w[j];
  }
  // A score is a sum of b and so many products; what it errs by passes through the loss with its slope there, which
  // changes by no more than the curvature allows.
  const double share = epsilon * (static_cast<double>(terms) + 8);
  const double norm = std::sqrt(squares) * (1 + share), reach = std::fabs(b);
  const double by_slope = share * (norm * at.mass + reach * at.size + at.spread);
  double by_curvature = 4 * share * share * (norm * norm * squares_ + reach * reach * weight_) * curvature;
  const double moved = std::fabs(intercept - b);
  double by_intercept = moved * (std::fabs(at.balance) + share * weight_) + moved * moved * weight_ * curvature;
  if (problem_.loss->log_link()) {
    // The curvature of e^u is e^u itself: e^(u + δ) ≤ e^u (1 + δ + δ²) for |δ| ≤ 1.
    by_curvature = 0;
    by_intercept = moved * (std::fabs(at.balance) + share * weight_);
    for (std::size_t i = 0; i < u_.size(); ++i) {
      const double off = share * (norm * norms_[i] + reach + std::fabs(u_[i])) + moved;
      by_curvature += off <= 1 ? 2 * cost_[i] * std::exp(u_[i]) * off * off : infinity;
    }
    progress_.work(8 * n);
  }
  const double loss = at.loss / total * (1 + roundings(n) * epsilon) +
                      (by_slope + by_curvature + by_intercept) / total * (1 + 16 * epsilon);
  const double of_intercept = constant_ > 0 && !problem_.free_intercept ? intercept / constant_ : 0;
  const double rho = problem_.l1_ratio;
  const double penalty = lambda * (rho * absolute + (1 - rho) / 2 * (penalised_squares + of_intercept * of_intercept));
  out.upper += loss + penalty * (1 + epsilon * (2.0 * static_cast<double>(w.size()) + 40)) + tiny * (n + 64);
  if (!(out.upper < infinity)) out.upper = infinity;
  out.lower = std::min(std::max(0.0, dual(at, lambda)), out.upper);
  out.gap = out.upper - out.lower;
  out.relative_gap = out.gap > 0 ? out.gap / out.upper : 0.0;
  if (!(out.upper < infinity)) out.gap = out.relative_gap = infinity;
  out.radius = problem_.data.radius();
  return out;
}

void ColumnCheck::score(const std::vector<double>& w, double b) {
  std::fill(u_.begin(), u_.end(), problem_.intercept ? b : 0.0);
  for (std::size_t j = 0; j < w.size(); ++j) {
    if (w[j] == 0) continue;
    const Row x = columns_.column(static_cast<std::int32_t>(j));
    add(w[j], x, u_.data());
    progress_.work(x.count);
  }
}

/// Losses, slopes and c a at the scores; with the figures that are counted.
ColumnCheck::Sums ColumnCheck::evaluate(Certificate& out) {
  Sums all;
  double value[chunk];
  visit(*problem_.loss, [&](const auto& loss) {
    for (std::size_t from = 0; from < u_.size(); from += chunk) {
      const std::size_t count = std::min(chunk, u_.size() - from);
      const double *const u = u_.data() + from, *const y = y_.data() + from, *const c = cost_.data() + from,
                          *const norms = norms_.data() + from;
      double *const slope = slope_.data() + from, *const weighted = weighted_.data() + from;
      margin::evaluate(loss, u, y, count, value, slope);
      double sum = 0, balance = 0, size = 0, mass = 0, spread = 0;
#pragma omp simd reduction(+ : sum, balance, size, mass, spread)
      for (std::size_t k = 0; k < count; ++k) {
        const double a = -c[k] * slope[k], absolute = std::fabs(a);
        weighted[k] = a;
        sum += c[k] * value[k];
        balance += a;
        size += absolute;
        mass += absolute * norms[k];
        spread += absolute * (std::fabs(u[k]) + std::fabs(y[k]));
      }
      for (std::size_t k = 0; k < count; ++k) out.support += weighted[k] != 0;
      if (problem_.task != Task::regression)
        for (std::size_t k = 0; k < count; ++k) out.failure += (u[k] > 0) != (y[k] > 0) ? c[k] : 0.0;
      all.loss += sum;
      all.balance += balance;
      all.size += size;
      all.mass += mass;
      all.spread += spread;
      progress_.work(28.0 * static_cast<double>(count));
    }
  });
  const double up = 1 + roundings(static_cast<double>(u_.size())) * epsilon;
  all.mass *= up;
  all.spread *= up;
  if (problem_.task == Task::regression) out.failure = all.loss / problem_.total_weight;
  return all;
}

ColumnCheck::Conjugate ColumnCheck::conjugate(double scale) const {
  double a[chunk], value[chunk];
  Conjugate total;
  visit(*problem_.loss, [&](const auto& loss) {
    for (std::size_t from = 0; from < u_.size(); from += chunk) {
      const std::size_t count = std::min(chunk, u_.size() - from);
      for (std::size_t k = 0; k < count; ++k) a[k] = -scale * slope_[from + k];
      negative_conjugate(loss, a, y_.data() + from, count, value);
      double sum = 0, size = 0;
      const double* const c = cost_.data() + from;
#pragma omp simd reduction(+ : sum, size)
      for (std::size_t k = 0; k < count; ++k) {
        sum += c[k] * value[k];
        size += std::fabs(c[k] * value[k]);
      }
      total.value += sum;
      total.size += size;
      progress_.work(20.0 * static_cast<double>(count));
    }
  });
  return total;
}

double ColumnCheck::held(double lambda, std::size_t j) const {
  return lambda * problem_.l1_ratio * problem_.factor(j) * (1 - 8 * epsilon);
}

/// In ulps, what the sum of column j errs by: dot() has 32 sums of dense columns side by side.
double ColumnCheck::depth(std::size_t j) const {
  const Row x = columns_.column(static_cast<std::int32_t>(j));
  return (x.indices != nullptr ? x.count : x.count / 32.0) + 40;
}

/// v_j of all columns but those whose term is 0 for certain, see above. A sum errs by `ulp` times its depth(); `error`
/// is what else may be missing of each.
void ColumnCheck::combine(double lambda, double ulp, double error) {
  const std::size_t d = v_.size();
  double moved = 0;
  std::size_t needed = d;
  if (ulp_before_ > 0) {
    for (std::size_t i = 0; i < weighted_.size(); ++i) {
      const double difference = weighted_[i] - before_[i];
      moved += difference * difference;
    }
    const auto n = static_cast<double>(weighted_.size());
    moved = (std::sqrt(moved) * (1 + (n + 8) * epsilon) + std::sqrt(tiny * (n + 1))) / problem_.total_weight;
    progress_.work(n);
    needed = 0;
    for (std::size_t j = 0; j < d; ++j) {
      const double bound = held_part(v_before_[j]) + lengths_[j] * moved + (ulp + ulp_before_) * depth(j) + error;
      known_[j] = !penalizes(j) || !(bound * (1 + 16 * epsilon) <= held(lambda, j));
      needed += known_[j] != 0;
    }
    progress_.work(4.0 * static_cast<double>(d));
  }
  // All of them again, once those that were needed since the last time cost as much.
  spent_ += needed;
  const bool all = spent_ > d || ulp_before_ == 0;
  for (std::size_t j = 0; j < d; ++j) {
    if (!all && known_[j] == 0) continue;
    known_[j] = 1;
    const Row x = columns_.column(static_cast<std::int32_t>(j));
    v_[j] = dot(x, weighted_.data()) / problem_.total_weight;
    progress_.work(x.count);
  }
  if (!all) return;
  spent_ = 0;
  before_ = weighted_;
  v_before_ = v_;
  ulp_before_ = ulp;
}

/// D of −φ'(u), for the lasso times the share that meets its constraint, rounded down.
double ColumnCheck::dual(const Sums& at, double lambda) {
  const double total = problem_.total_weight, n = static_cast<double>(u_.size()), chunks = roundings(n);
  const double rho = problem_.l1_ratio, ulp = epsilon * at.mass / total * (1 + 64 * epsilon) + tiny;
  double error = 0, excess = 0;
  if (problem_.free_intercept) {
    if (!(at.size > 0)) return 0;
    excess = 2 * (std::fabs(at.balance) / at.size + chunks * epsilon);
    if (!(excess <= 1)) return 0;
    error += excess * at.mass / total;
  }
  error = error * (1 + 64 * epsilon) + tiny * (n + 8);
  combine(lambda, ulp, error);

  double scale = 1;
  if (rho == 1) {
    double largest = 0;
    for (std::size_t j = 0; j < v_.size(); ++j)
      if (known_[j] != 0 && penalizes(j)) largest = std::max(largest, held_part(v_[j]) / held(lambda, j));
    // A little further than needed, so that rounding does not leave it outside.
    if (largest >= 1) scale = (1 - 1e-12) / largest;
  }
  const Conjugate sum = conjugate(scale);
  double value = sum.value - (chunks * epsilon + excess) * (sum.size + at.spread) - 8 * epsilon * weight_;
  value = value / total - 4 * epsilon * std::fabs(value / total);
  double share = 1, penalty = 0;
  for (std::size_t j = 0; j < v_.size(); ++j) {
    if (known_[j] == 0) continue;
    const double v = scale * v_[j], kappa = held(lambda, j), size = held_part(v) + ulp * depth(j) + error;
    if (!std::isfinite(size)) return 0;
    if (!penalizes(j)) {
      value -= problem_.offset_weight() * (v + ulp * depth(j) + error + 4 * epsilon * std::fabs(v));
      value -= 4 * epsilon * std::fabs(value);
      continue;
    }
    if (!(size > kappa)) continue;
    if (rho == 1)
      share = std::min(share, kappa / size);
    else
      penalty += (size - kappa) * (size - kappa) / problem_.factor(j);
  }
  if (rho == 1) return value * share * (1 - 16 * epsilon);
  if (problem_.intercept && !problem_.free_intercept) {
    const double of_intercept = constant_ * (std::fabs(at.balance) / total + epsilon * (chunks + 16) * at.size / total);
    penalty += of_intercept * of_intercept;
  }
  const double quotient = penalty / (2 * lambda) / (1 - rho) * (1 + epsilon * (static_cast<double>(v_.size()) + 32));
  return value - quotient - tiny * 64;
}

}  // namespace margin
