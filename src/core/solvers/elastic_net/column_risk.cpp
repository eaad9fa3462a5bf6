#include "core/solvers/elastic_net/column_risk.hpp"

#include <algorithm>
#include <cmath>

#include "core/loss/chunk.hpp"
#include "core/math/box_term.hpp"
#include "core/math/rounding.hpp"
#include "core/problem/offset.hpp"

namespace margin {

namespace {

/// φ'' from what is known already: the logistic one follows from the slope.
template <class L>
double curvature(const L& loss, double u, double y, double /*slope*/) {
  return loss.second_derivative(u, y);
}
double curvature(const Logistic&, double /*u*/, double /*y*/, double slope) {
  return std::fabs(slope) * (1 - std::fabs(slope));
}

}  // namespace

ColumnRisk::ColumnRisk(const Problem& p, const Columns& columns, const Progress& progress)
    : problem_(p),
      progress_(progress),
      columns_(columns),
      constant_(!p.intercept       ? 0
                : p.free_intercept ? 1
                                   : p.intercept_scale),
      sums_(p, columns, progress) {
  const auto n = static_cast<std::size_t>(p.rows()), d = static_cast<std::size_t>(p.dimensions());
  cost_.resize(n);
  y_.resize(n);
  for (std::size_t i = 0; i < n; ++i) cost_[i] = p.weight(static_cast<std::int64_t>(i));
  w_.assign(d, 0.0);
  for (std::vector<double>* const v : {&u_, &slope_, &coefficient_}) v->assign(n, 0.0);
  progress.work(8.0 * static_cast<double>(n + d));
}

double ColumnRisk::bytes(const Problem& p) {
  return Columns::bytes(p.data) + ColumnSums::bytes(p) + 8.0 * 6 * static_cast<double>(p.rows()) +
         8.0 * 4 * p.dimensions();
}

void ColumnRisk::select(std::int32_t output) {
  for (std::size_t i = 0; i < y_.size(); ++i) y_[i] = problem_.target(static_cast<std::int64_t>(i), output);
  progress_.work(4.0 * static_cast<double>(y_.size()));
}

void ColumnRisk::move(const std::vector<double>& w, double b) {
  w_ = w;
  hold_offset(problem_, w_);
  support_.clear();
  for (std::size_t j = 0; j < w_.size(); ++j)
    if (w_[j] != 0) support_.push_back(j);
  b_ = problem_.intercept ? b : 0;
  score();
}

void ColumnRisk::move(const std::vector<std::size_t>& features, const std::vector<double>& weights, double b) {
  for (const std::size_t j : support_) w_[j] = 0;
  for (std::size_t k = 0; k < features.size(); ++k) w_[features[k]] = weights[k];
  hold_offset(problem_, w_);
  support_.clear();
  for (const std::size_t j : features)
    if (w_[j] != 0) support_.push_back(j);
  if (problem_.offset >= 0) {
    const auto j = static_cast<std::size_t>(problem_.offset);
    const auto at = std::lower_bound(support_.begin(), support_.end(), j);
    if (w_[j] != 0 && (at == support_.end() || *at != j)) support_.insert(at, j);
  }
  b_ = problem_.intercept ? b : 0;
  score();
}

/// Scores at w and b, and what follows from them.
void ColumnRisk::score() {
  reach_ = std::fabs(b_);
  std::fill(u_.begin(), u_.end(), b_);
  for (const std::size_t j : support_) {
    const Row x = columns_.column(static_cast<std::int32_t>(j));
    add(w_[j], x, u_.data());
    progress_.work(x.count);
  }
  losses();
}

void ColumnRisk::shift(double t) {
  b_ += t;
  reach_ += std::fabs(t);
  for (double& u : u_) u += t;
  losses();
}

void ColumnRisk::losses() {
  const std::size_t n = u_.size();
  double value[chunk];
  loss_ = balance_ = size_ = 0;
  visit(*problem_.loss, [&](const auto& loss) {
    for (std::size_t from = 0; from < n; from += chunk) {
      const std::size_t count = std::min(chunk, n - from);
      evaluate(loss, u_.data() + from, y_.data() + from, count, value, slope_.data() + from);
      double sum = 0, balance = 0, size = 0;
      const double* const c = cost_.data() + from;
      const double* const slope = slope_.data() + from;
      double* const coefficient = coefficient_.data() + from;
#pragma omp simd reduction(+ : sum, balance, size)
      for (std::size_t k = 0; k < count; ++k) {
        const double a = -c[k] * slope[k];
        coefficient[k] = a;
        sum += c[k] * value[k];
        balance += a;
        size += std::fabs(a);
      }
      loss_ += sum;
      balance_ += balance;
      size_ += size;
      progress_.work(20.0 * static_cast<double>(count));
    }
  });
  loss_ /= problem_.total_weight;
  known_scale_ = -1;
}

ColumnRisk::Slope ColumnRisk::slope_at(double t) {
  Slope at;
  double u[chunk], value[chunk], slope[chunk];
  const std::size_t n = u_.size();
  visit(*problem_.loss, [&](const auto& loss) {
    for (std::size_t from = 0; from < n; from += chunk) {
      const std::size_t count = std::min(chunk, n - from);
      for (std::size_t k = 0; k < count; ++k) u[k] = u_[from + k] + t;
      if (t == 0)
        std::copy_n(slope_.data() + from, count, slope);
      else
        evaluate(loss, u, y_.data() + from, count, value, slope);
      for (std::size_t k = 0; k < count; ++k) {
        const double c = cost_[from + k];
        at.value += c * slope[k];
        at.size += c * std::fabs(slope[k]);
        at.curvature += c * curvature(loss, u[k], y_[from + k], slope[k]);
      }
      progress_.work(20.0 * static_cast<double>(count));
    }
  });
  return at;
}

void ColumnRisk::combine_some() {
  sums_.some(coefficient_);
  sums_.know(support_);
}

ColumnRisk::Conjugate ColumnRisk::conjugate(double scale) {
  if (scale == known_scale_) return known_conjugate_;
  double a[chunk], value[chunk];
  Conjugate total;
  const std::size_t n = u_.size();
  visit(*problem_.loss, [&](const auto& loss) {
    for (std::size_t from = 0; from < n; from += chunk) {
      const std::size_t count = std::min(chunk, n - from);
      for (std::size_t k = 0; k < count; ++k) a[k] = -scale * slope_[from + k];
      negative_conjugate(loss, a, y_.data() + from, count, value);
      double sum = 0, size = 0;
      const double* const cost = cost_.data() + from;
#pragma omp simd reduction(+ : sum, size)
      for (std::size_t k = 0; k < count; ++k) {
        sum += cost[k] * value[k];
        size += std::fabs(cost[k] * value[k]);
      }
      total.value += sum;
      total.size += size;
      progress_.work(20.0 * static_cast<double>(count));
    }
  });
  known_scale_ = scale;
  known_conjugate_ = total;
  return known_conjugate_;
}

double ColumnRisk::primal(double lambda) const {
  double absolute = 0, squares = 0;
  for (const std::size_t j : support_) {
    if (!penalizes(j)) continue;
    absolute += factor(j) * std::fabs(w_[j]);
    squares += factor(j) * w_[j] * w_[j];
  }
  const double b = constant_ > 0 && !problem_.free_intercept ? b_ / constant_ : 0;
  const double rho = problem_.l1_ratio;
  return loss_ + lambda * (rho * absolute + (1 - rho) / 2 * (squares + b * b));
}

/// The same with bounds of weights. What the penalty holds adds nothing, unless 0 is not between the bounds: then there is a weight.
ColumnRisk::Interval ColumnRisk::between_bounds(double lambda) {
  Interval out;
  out.primal = primal(lambda);
  const Bounds& bounds = problem_.bounds;
  const bool ridge = problem_.l1_ratio < 1;
  const std::vector<std::size_t>& free = near(lambda, near_bound);
  double largest = 0;
  for (const std::size_t j : free) {
    const bool endless = sums()[j] > 0 ? bounds.most(j) == infinity : bounds.least(j) == -infinity;
    if (!ridge && endless && penalizes(j)) largest = std::max(largest, std::fabs(sums()[j]) / l1(lambda, j));
  }
  if (largest >= 1) out.scale = (1 - 1e-12) / largest;
  double held_back = 0;
  const auto add = [&](std::size_t j) {
    if (penalizes(j))
      held_back += box_value(out.scale * sums()[j], l2(lambda, j), l1(lambda, j), bounds.least(j), bounds.most(j));
  };
  for (const std::size_t j : free) add(j);
  for (const std::size_t j : support_)
    if (!std::binary_search(free.begin(), free.end(), j)) add(j);
  if (ridge && constant_ > 0 && !problem_.free_intercept) {
    const double b = sum_of_constant();
    held_back -= b * b / (2 * lambda * (1 - problem_.l1_ratio));
  }
  out.dual = conjugate(out.scale).value / problem_.total_weight - out.scale * held() + held_back;
  return out;
}

ColumnRisk::Interval ColumnRisk::interval(double lambda) {
  if (!problem_.bounds.empty()) return between_bounds(lambda);
  Interval out;
  out.primal = primal(lambda);
  double largest = 0, excess = 0;
  const bool ridge = problem_.l1_ratio < 1;
  for (const std::size_t j : near(lambda, near_bound)) {
    const double size = std::fabs(sums()[j]), kappa = l1(lambda, j);
    if (!(size > kappa) || !penalizes(j)) continue;
    largest = std::max(largest, size / kappa);
    if (ridge) excess += (size - kappa) * (size - kappa) / l2(lambda, j);
  }
  if (ridge) {
    const double b = problem_.free_intercept ? 0 : sum_of_constant();
    excess += b * b / (lambda * (1 - problem_.l1_ratio));
    out.dual = conjugate(1).value / problem_.total_weight - held() - excess / 2;
  }
  if (!ridge) {
    // A little further than needed, so that rounding does not leave it outside.
    out.scale = largest >= 1 ? (1 - 1e-12) / largest : 1;
    out.dual = conjugate(out.scale).value / problem_.total_weight - out.scale * held();
  }
  return out;
}

void ColumnRisk::curvatures(double floor, std::vector<double>& out) const {
  out.resize(u_.size());
  const double least = floor / problem_.smoothness();
  visit(*problem_.loss, [&](const auto& loss) {
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = cost_[i] * std::max(curvature(loss, u_[i], y_[i], slope_[i]), least) / problem_.total_weight;
  });
  progress_.work(4.0 * static_cast<double>(out.size()));
}

}  // namespace margin
