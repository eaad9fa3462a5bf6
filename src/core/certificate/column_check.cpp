#include "core/certificate/column_check.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/certificate/check.hpp"
#include "core/data/four_rows.hpp"
#include "core/loss/chunk.hpp"
#include "core/math/box_term.hpp"
#include "core/math/exact_sum.hpp"
#include "core/math/norm.hpp"
#include "core/math/rounding.hpp"
#include "core/problem/offset.hpp"
#include "core/simd/mixed_columns.hpp"

namespace margin {

namespace {

constexpr std::size_t rows_at_once = 1024;  // rows that are summed on their own first

/// Roundings of a sum of n terms that is made of chunks.
double roundings(double n) { return static_cast<double>(rows_at_once) + n / static_cast<double>(rows_at_once) + 16; }

}  // namespace

ColumnCheck::ColumnCheck(const Problem& p, const Progress& progress)
    : problem_(p),
      progress_(progress),
      columns_(p.data, progress),
      sizes_(p, 0, progress),
      constant_(!p.intercept       ? 0
                : p.free_intercept ? 1
                                   : p.intercept_scale),
      bounds_(columns_, static_cast<std::size_t>(p.rows()), static_cast<std::size_t>(p.dimensions()), p.total_weight,
              p.free_intercept, progress) {
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
  // Of sums of n products, those that vanish. Here and not for each sum: a product with `tiny` takes a hundred cycles.
  lost_ = tiny * (2 * static_cast<double>(n) + 64);
  ulps_.resize(d);
  factors_.resize(d);
  origin_.assign(d, 0.0);
  roots_ = sizes_.roots();
  alike_ = p.bounds.empty();
  for (std::size_t j = 0; j < d; ++j) {
    if (p.free_intercept && penalizes(j)) centre(j);
    const Row x = columns_.column(static_cast<std::int32_t>(j));
    // dot() has 32 sums of dense columns side by side.
    ulps_[j] = epsilon * ((x.indices != nullptr ? x.count : x.count / 32.0) + 40);
    most_ulps_ = std::max(most_ulps_, ulps_[j]);
    factors_[j] = !penalizes(j) || !p.bounds.holds(0, j) ? -1 : p.factor(j);
    alike_ &= factors_[j] == 1;
    progress.work(8.0);
  }
  v_.assign(d, 0.0);
}

/// Where the largest number of a column is far more than what it spreads.
void ColumnCheck::centre(std::size_t j) {
  constexpr double far = 8;
  const Row x = columns_.column(static_cast<std::int32_t>(j));
  if (x.indices != nullptr || x.count == 0) return;
  const double origin = x.value(0);
  double spread = 0, largest = 0, squares = 0;
  for (std::int32_t i = 0; i < x.count; ++i) {
    const double v = x.value(i) - origin;
    spread = std::max(spread, std::fabs(v));
    largest = std::max(largest, std::fabs(x.value(i)));
    squares += cost_[static_cast<std::size_t>(i)] / problem_.total_weight * (v * v);
  }
  progress_.work(4.0 * x.count);
  if (!(largest > far * spread)) return;
  origin_[j] = origin;
  roots_[j] = root_of_squares(squares, x.count);
}

Row ColumnCheck::summed(std::size_t j) {
  const Row x = columns_.column(static_cast<std::int32_t>(j));
  if (origin_[j] == 0) return x;
  centred_.resize(static_cast<std::size_t>(x.count));
  for (std::int32_t i = 0; i < x.count; ++i) centred_[static_cast<std::size_t>(i)] = x.value(i) - origin_[j];
  progress_.work(x.count);
  return Row{centred_.data(), nullptr, x.count, true};
}

double ColumnCheck::bytes(const Problem& p) {
  const double n = static_cast<double>(p.rows());
  return 8 * 7.0 * n + 8 * 7.0 * p.dimensions() + ColumnBounds::bytes(n, p.dimensions());
}

Certificate ColumnCheck::certificate(const std::vector<double>& w, double b, double intercept, double lambda) {
  const auto n = static_cast<double>(u_.size());
  const double total = problem_.total_weight, curvature = 1 / problem_.smoothness();
  Certificate out;
  score(w, b);
  const Sums at = evaluate(out);

  for (std::size_t j = 0; !problem_.bounds.empty() && j < w.size(); ++j)
    if (penalizes(j) && !problem_.bounds.holds(w[j], j)) out.upper = infinity;
  std::size_t terms = 0;
  double squares = 0, absolute = 0, by_columns = 0;
  for (std::size_t j = 0; j < w.size(); ++j) {
    if (w[j] == 0) continue;
    ++terms;
    squares += w[j] * w[j];
    by_columns += std::fabs(w[j]) * sizes_.roots()[j];
    if (!penalizes(j)) continue;
    absolute += problem_.factor(j) * std::fabs(w[j]);
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
  by_columns *= 1 + share;
  const Masses of = masses(at, total);
  const double by_slope =
      share * (std::min(norm * at.mass, of.root * by_columns * total) + reach * at.size + at.spread);
  const double scores = std::min(norm * norm * squares_, by_columns * by_columns * total);
  double by_curvature = 4 * share * share * (scores + reach * reach * weight_) * curvature;
  const double moved = std::fabs(intercept - b);
  double by_intercept = moved * (std::fabs(at.balance) + share * weight_) + moved * moved * weight_ * curvature;
  if (problem_.loss->log_link()) {
    // The curvature of e^u is e^u itself: e^(u + δ) ≤ e^u (1 + δ + δ²) for |δ| ≤ 1.
    by_curvature = 0;
    by_intercept = moved * (std::fabs(at.balance) + share * weight_);
    const double longest = sizes_.largest_product(w);
    for (std::size_t i = 0; i < u_.size(); ++i) {
      const double off = share * (std::min(norm * norms_[i], longest) + reach + std::fabs(u_[i])) + moved;
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
  set_minimum_gap(out);
  out.radius = problem_.data.radius();
  return out;
}

std::vector<double> ColumnCheck::image() const {
  std::vector<double> v(ulps_.size());
  for (std::size_t j = 0; j < v.size(); ++j) {
    v[j] = dot(columns_.column(static_cast<std::int32_t>(j)), weighted_.data()) / problem_.total_weight;
    progress_.work(static_cast<double>(weighted_.size()));
  }
  return v;
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
  double value[rows_at_once];
  const double total = problem_.total_weight;
  visit(*problem_.loss, [&](const auto& loss) {
    for (std::size_t from = 0; from < u_.size(); from += rows_at_once) {
      const std::size_t count = std::min(rows_at_once, u_.size() - from);
      const double *const u = u_.data() + from, *const y = y_.data() + from, *const c = cost_.data() + from,
                          *const norms = norms_.data() + from;
      double *const slope = slope_.data() + from, *const weighted = weighted_.data() + from;
      margin::evaluate(loss, u, y, count, value, slope);
      double sum = 0, size = 0, mass = 0, spread = 0, squares = 0;
#pragma omp simd reduction(+ : sum, size, mass, spread, squares)
      for (std::size_t k = 0; k < count; ++k) {
        const double a = -c[k] * slope[k], absolute = std::fabs(a);
        weighted[k] = a;
        sum += c[k] * value[k];
        size += absolute;
        mass += absolute * norms[k];
        spread += absolute * (std::fabs(u[k]) + std::fabs(y[k]));
        squares += absolute / total * std::fabs(slope[k]);
      }
      for (std::size_t k = 0; k < count; ++k) out.support += weighted[k] != 0;
      if (problem_.task != Task::regression)
        for (std::size_t k = 0; k < count; ++k) out.failure += (u[k] > 0) != (y[k] > 0) ? c[k] : 0.0;
      all.loss += sum;
      all.size += size;
      all.mass += mass;
      all.spread += spread;
      all.squares += squares;
      progress_.work(28.0 * static_cast<double>(count));
    }
  });
  const double up = 1 + roundings(static_cast<double>(u_.size())) * epsilon;
  all.mass *= up;
  all.spread *= up;
  all.squares *= up;
  ExactSum balance;
  for (const double a : weighted_) balance.add(a);
  all.balance = balance.value();
  progress_.work(4.0 * static_cast<double>(weighted_.size()));
  if (problem_.task == Task::regression) out.failure = all.loss / problem_.total_weight;
  return all;
}

ColumnCheck::Conjugate ColumnCheck::conjugate(double scale) const {
  double a[rows_at_once], value[rows_at_once];
  Conjugate total;
  visit(*problem_.loss, [&](const auto& loss) {
    for (std::size_t from = 0; from < u_.size(); from += rows_at_once) {
      const std::size_t count = std::min(rows_at_once, u_.size() - from);
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

double ColumnCheck::held(double lambda) const { return lambda * problem_.l1_ratio * (1 - 8 * epsilon); }

ColumnCheck::Masses ColumnCheck::masses(const Sums& at, double total) {
  return {at.mass / total * (1 + 8 * epsilon) + tiny, root_of_squares(at.squares, 1)};
}

/// Which columns may have a term, see the header.
void ColumnCheck::find_needed(double lambda, const Masses& of, double excess) {
  const double of_factor = held(lambda);
  ColumnBounds::Mix mix = bounds_.nearest(weighted_, excess);
  // What the sums err by counts twice: they would be compared with it themselves.
  mix.error += 2 * of.root * (most_ulps_ + excess * (1 + 64 * epsilon));
  mix.lost += 2 * lost_;
  bounds_.bound(mix, centre_, radius_);
  const std::size_t n = weighted_.size(), d = v_.size();
  known_.resize(d);
  std::size_t count = 0;
  if (alike_) {
    count = column_loops().reaching(centre_.data(), radius_.data(), of_factor * (1 - 16 * epsilon), d, known_.data());
  } else {
    for (std::size_t j = 0; j < d; ++j) {
      const double pull = held_part(centre_[j], j) + radius_[j];
      known_[count] = static_cast<std::int32_t>(j);
      count += !(pull * (1 + 16 * epsilon) <= of_factor * factors_[j]);
    }
  }
  known_.resize(count);
  progress_.work(2.0 * static_cast<double>(n) + static_cast<double>(d));
}

/// v_j of all columns but those whose term is 0 for certain.
void ColumnCheck::combine(double lambda, const Masses& of, double excess) {
  const std::size_t d = v_.size();
  // All of them again, once those that were needed since the last time cost as much.
  if (!bounds_.empty()) find_needed(lambda, of, excess);
  spent_ += known_.size();
  const bool all = spent_ > d || bounds_.empty();
  if (all) {
    known_.resize(d);
    for (std::size_t j = 0; j < d; ++j) known_[j] = static_cast<std::int32_t>(j);
  }
  sum_known();
  if (!all) return;
  spent_ = 0;
  bounds_.keep({weighted_, excess, v_, of.root * (most_ulps_ + excess * (1 + 64 * epsilon)), lost_}, roots_);
}

/// Four columns at a time, with the bits of one after the other.
void ColumnCheck::sum_known() {
  double work = 0;
  std::size_t waiting[4];
  Row x[4] = {};
  int count = 0;
  const auto sum = [&] {
    double out[4];
    dots(x, count, nullptr, weighted_.data(), out);
    for (int r = 0; r < count; ++r) v_[waiting[r]] = out[r] / problem_.total_weight;
    count = 0;
  };
  for (const std::int32_t at : known_) {
    const Row column = columns_.column(at);
    const auto j = static_cast<std::size_t>(at);
    if (origin_[j] != 0 || column.indices != nullptr) {
      v_[j] = dot(summed(j), weighted_.data()) / problem_.total_weight;
    } else {
      waiting[count] = j;
      x[count++] = column;
      if (count == 4) sum();
    }
    work += column.count;
    if (work > 1e4) progress_.work(std::exchange(work, 0.0));
  }
  sum();
  progress_.work(work);
}

double ColumnCheck::term_between(double v, double off, std::size_t j, double lambda) const {
  return box_term(v, off, lambda * (1 - problem_.l1_ratio) * problem_.factor(j) * (1 - 8 * epsilon),
                  held(lambda) * problem_.factor(j), problem_.bounds.least(j), problem_.bounds.most(j));
}

/// D of −φ'(u), for the lasso times the share that meets its constraint, rounded down.
double ColumnCheck::dual(const Sums& at, double lambda) {
  const double total = problem_.total_weight, n = static_cast<double>(u_.size()), chunks = roundings(n);
  const double rho = problem_.l1_ratio, of_factor = held(lambda);
  const Masses of = masses(at, total);
  double excess = 0;
  if (problem_.free_intercept) {
    if (!(at.size > 0)) return 0;
    excess = 2 * (std::fabs(at.balance) / at.size * (1 + chunks * epsilon) + 8 * epsilon);
    if (!(excess <= 1)) return 0;
  }
  combine(lambda, of, excess);

  const bool bounded = !problem_.bounds.empty();
  double scale = 1;
  if (rho == 1) {
    double largest = 0;
    for (const std::int32_t at_column : known_)
      if (const auto j = static_cast<std::size_t>(at_column); penalizes(j) && endless(v_[j], j))
        largest = std::max(
            largest, (std::fabs(v_[j]) + (bounded ? off(of, excess, j) : 0.0)) / (of_factor * problem_.factor(j)));
    // A little further than needed, so that rounding does not leave it outside.
    if (largest >= 1) scale = (1 - 1e-12) / largest;
  }
  const Conjugate sum = conjugate(scale);
  double value = sum.value - (chunks * epsilon + excess) * (sum.size + at.spread) - 8 * epsilon * weight_;
  value = value / total - 4 * epsilon * std::fabs(value / total);
  double share = 1, penalty = 0, between = 0, between_size = 0;
  for (const std::int32_t at_column : known_) {
    const auto j = static_cast<std::size_t>(at_column);
    const double v = scale * v_[j], kappa = of_factor * problem_.factor(j), error = off(of, excess, j),
                 size = std::fabs(v) + error;
    if (!std::isfinite(size)) return 0;
    if (!penalizes(j)) {
      value -= problem_.offset_weight() * (v + error + 4 * epsilon * std::fabs(v));
      value -= 4 * epsilon * std::fabs(value);
      continue;
    }
    if (bounded) {
      const double term = term_between(v, error, j, lambda);
      if (!(term > -infinity)) return 0;
      between += term;
      between_size += std::fabs(term);
      continue;
    }
    if (!(size > kappa)) continue;
    if (rho == 1)
      share = std::min(share, kappa / size);
    else
      penalty += (size - kappa) * (size - kappa) / problem_.factor(j);
  }
  if (bounded) {
    between -= epsilon * (static_cast<double>(v_.size()) + 32) * between_size;
    value += between - 4 * epsilon * (std::fabs(value) + std::fabs(between));
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
