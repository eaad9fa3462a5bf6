#include "core/certificate/column_check.hpp"

#include <algorithm>
#include <cmath>

#include "core/math/norm.hpp"
#include "core/math/rounding.hpp"

namespace margin {

ColumnCheck::ColumnCheck(const Problem& p) : problem_(p), norms_(static_cast<std::size_t>(p.rows())) {
  for (std::size_t i = 0; i < norms_.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    norms_[i] = norm(p.data.row(row)) * (1 + 8 * epsilon);
    squares_ += p.weight(row) * norms_[i] * norms_[i];
    weight_ += p.weight(row);
  }
  const auto n = static_cast<double>(p.rows());
  squares_ *= 1 + (n + 8) * epsilon;
  weight_ *= 1 + (n + 8) * epsilon;
}

Certificate ColumnCheck::certificate(ColumnRisk& risk, double lambda, double intercept, double scale) const {
  const std::size_t n = norms_.size();
  const double total = problem_.total_weight, curvature = 1 / problem_.smoothness();
  double mass = 0, spread = 0, squares = 0, absolute = 0;
  Certificate out;
  const std::vector<double>&a = risk.coefficients(), &u = risk.scores(), &y = risk.y(), &cost = risk.cost();
  for (std::size_t i = 0; i < n; ++i) {
    const double size = std::fabs(a[i]);
    mass += size * norms_[i];
    spread += size * (std::fabs(u[i]) + std::fabs(y[i]));
    out.support += size > 0 ? 1 : 0;
  }
  const double depth = static_cast<double>(n) + 8;  // of these sums
  mass *= 1 + depth * epsilon;
  spread *= 1 + depth * epsilon;
  if (problem_.task == Task::regression) {
    out.failure = risk.loss();
  } else {
    for (std::size_t i = 0; i < n; ++i) out.failure += (u[i] > 0) != (y[i] > 0) ? cost[i] : 0.0;
  }
  risk.progress().work(8.0 * static_cast<double>(n));

  std::size_t terms = 0;
  for (std::size_t j = 0; j < risk.features(); ++j) {
    const double w = risk.w()[j];
    if (w == 0) continue;
    ++terms;
    squares += w * w;
    if (!risk.penalizes(j)) continue;
    absolute += problem_.factor(j) * std::fabs(w);
    if (problem_.positive && w < 0) out.upper = infinity;
  }
  double penalised_squares = squares;
  if (problem_.offset >= 0 || !problem_.penalty_factor.empty()) {
    penalised_squares = 0;
    for (std::size_t j = 0; j < risk.features(); ++j)
      if (risk.penalizes(j)) penalised_squares += problem_.factor(j) * risk.w()[j] * risk.w()[j];
  }
  // A score is a sum of so many products and of what b is made of; what it errs by passes through the loss with its
  // slope there, which changes by no more than the curvature allows.
  const double share = epsilon * (static_cast<double>(terms) + 8);
  const double norm = std::sqrt(squares) * (1 + share), reach = risk.reach();
  const double by_slope = share * (norm * mass + reach * risk.size() + spread);
  double by_curvature = 4 * share * share * (norm * norm * squares_ + reach * reach * weight_) * curvature;
  const double moved = std::fabs(intercept - risk.b());
  double by_intercept = moved * (std::fabs(risk.balance()) + share * weight_) + moved * moved * weight_ * curvature;
  if (problem_.loss->log_link()) {
    // The curvature of e^u is e^u itself: e^(u + δ) ≤ e^u (1 + δ + δ²) for |δ| ≤ 1.
    by_curvature = 0;
    by_intercept = moved * (std::fabs(risk.balance()) + share * weight_);
    for (std::size_t i = 0; i < n; ++i) {
      const double off = share * (norm * norms_[i] + reach + std::fabs(u[i])) + moved;
      by_curvature += off <= 1 ? 2 * cost[i] * std::exp(u[i]) * off * off : infinity;
    }
  }
  const double chunks = static_cast<double>(ColumnRisk::chunk) + static_cast<double>(n) / ColumnRisk::chunk + 16;
  const double loss =
      risk.loss() * (1 + chunks * epsilon) + (by_slope + by_curvature + by_intercept) / total * (1 + 16 * epsilon);
  const double b = risk.constant() > 0 && !problem_.free_intercept ? intercept / risk.constant() : 0;
  const double rho = problem_.l1_ratio;
  const double penalty = lambda * (rho * absolute + (1 - rho) / 2 * (penalised_squares + b * b));
  out.upper += loss + penalty * (1 + epsilon * (2.0 * static_cast<double>(risk.features()) + 40)) +
               tiny * (static_cast<double>(n) + 64);
  if (!(out.upper < infinity)) out.upper = infinity;
  out.lower = std::min(std::max(0.0, dual(risk, lambda, scale, mass, spread)), out.upper);
  out.gap = out.upper - out.lower;
  out.relative_gap = out.gap > 0 ? out.gap / out.upper : 0.0;
  if (!(out.upper < infinity)) out.gap = out.relative_gap = infinity;
  out.radius = problem_.data.radius();
  return out;
}

/// D of the point's dual vector times `scale`, rounded down. `mass`: Σ c |a| ‖x‖; `spread`: Σ c |a| (|u| + |y|).
double ColumnCheck::dual(ColumnRisk& risk, double lambda, double scale, double mass, double spread) const {
  const double total = problem_.total_weight, n = static_cast<double>(norms_.size());
  const double chunks = static_cast<double>(ColumnRisk::chunk) + n / ColumnRisk::chunk + 16;
  // Each sum over a column errs by an ulp of Σ c |a| |x| for each of its terms; dot() has 32 sums of dense columns side by
  // side.
  const auto depth_of = [&](std::size_t j) {
    const Row x = risk.columns().column(static_cast<std::int32_t>(j));
    return (x.indices != nullptr ? x.count : x.count / 32.0) + 40;
  };
  const double ulps = epsilon * mass / total * (1 + 64 * epsilon);
  double error = 0, excess = 0;
  if (problem_.free_intercept) {
    if (!(risk.size() > 0)) return 0;
    excess = 2 * (std::fabs(risk.balance()) / risk.size() + chunks * epsilon);
    if (!(excess <= 1)) return 0;
    error += excess * mass / total;
  }
  error = error * (1 + 64 * epsilon) + tiny * (n + 8);
  const ColumnRisk::Conjugate conjugate = risk.conjugate(scale);
  double value = conjugate.value - (chunks * epsilon + excess) * (conjugate.size + spread) - 8 * epsilon * weight_;
  value = value / total - 4 * epsilon * std::fabs(value / total);
  const double rho = problem_.l1_ratio;
  double share = 1, penalty = 0;
  for (std::size_t j = 0; j < risk.features(); ++j) {
    const double v = scale * risk.sums()[j],
                 size = (problem_.positive ? std::max(0.0, v) : std::fabs(v)) + ulps * depth_of(j) + error;
    const double kappa = lambda * rho * problem_.factor(j) * (1 - 8 * epsilon);
    if (!std::isfinite(size)) return 0;
    if (!risk.penalizes(j)) {
      value -= problem_.offset_weight() * (v + ulps * depth_of(j) + error + 4 * epsilon * std::fabs(v));
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
    const double of_intercept =
        risk.constant() * (scale * std::fabs(risk.balance()) / total + epsilon * (chunks + 16) * risk.size() / total);
    penalty += of_intercept * of_intercept;
  }
  const double quotient =
      penalty / (2 * lambda) / (1 - rho) * (1 + epsilon * (static_cast<double>(risk.features()) + 32));
  return value - quotient - tiny * 64;
}

}  // namespace margin
