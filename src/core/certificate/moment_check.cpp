#include "core/certificate/moment_check.hpp"

#include <algorithm>
#include <cmath>

#include "core/certificate/check.hpp"
#include "core/loss/loss.hpp"
#include "core/math/box_term.hpp"
#include "core/math/rounding.hpp"

namespace margin {

bool MomentCheck::serves(const Problem& p) {
  return p.task == Task::regression && p.loss->quadratic() && p.l1_ratio > 0 && p.offset < 0 &&
         (!p.intercept || p.free_intercept);
}

std::vector<double> MomentCheck::products(const std::vector<double>& w, double intercept) const {
  const Moments& m = moments_;
  std::vector<double> q(m.size());
  for (std::size_t k = 0; k < q.size(); ++k) q[k] = intercept * m.of(m.constant(), k) - m.of(m.target(), k);
  for (std::size_t j = 0; j < m.features(); ++j) {
    if (w[j] == 0) continue;
    const double* const row = m.row(j);
    for (std::size_t k = 0; k < q.size(); ++k) q[k] += w[j] * row[k];
  }
  return q;
}

std::vector<double> MomentCheck::image(const std::vector<double>& w, double intercept) const {
  std::vector<double> v = products(w, intercept);
  v.resize(moments_.features());
  for (double& x : v) x *= -2;
  return v;
}

Certificate MomentCheck::certificate(const std::vector<double>& w, double intercept, double lambda) const {
  const Moments& m = moments_;
  const std::size_t d = m.features(), constant = m.constant(), target = m.target();
  const bool bounded = !problem_.bounds.empty();
  const std::vector<double> q = products(w, intercept);
  // The sizes of what it is made of.
  double reach = m.scale(target) + std::fabs(intercept) * m.scale(constant), absolute = 0, squares = 0;
  std::size_t terms = 2;
  Certificate out;
  for (std::size_t j = 0; j < d; ++j) {
    if (bounded && !problem_.bounds.holds(w[j], j)) out.upper = infinity;
    if (w[j] == 0) continue;
    ++terms;
    reach += std::fabs(w[j]) * m.scale(j);
    absolute += problem_.factor(j) * std::fabs(w[j]);
    squares += problem_.factor(j) * w[j] * w[j];
  }
  const double share = epsilon * (m.ulps() + 2 * static_cast<double>(terms) + 16), error = share * reach;
  double loss = intercept * q[constant] - q[target];
  for (std::size_t j = 0; j < d; ++j)
    if (w[j] != 0) loss += w[j] * q[j];
  const double rho = problem_.l1_ratio;
  const double penalty = lambda * (rho * absolute + (1 - rho) / 2 * squares);
  const double rounding = 1 + epsilon * (2 * static_cast<double>(terms) + 40);
  out.upper += std::max(0.0, loss) + 2 * error * reach * (1 + 16 * epsilon) + penalty * rounding + 64 * tiny;
  if (!(out.upper < infinity)) out.upper = infinity;

  // The mean of e goes off for a free intercept: q and <e, e> are those of what is left.
  const double mean = problem_.free_intercept ? q[constant] / m.of(constant, constant) : 0.0;
  const double own = mean == 0 ? 0.0 : mean * q[constant];
  const double fit = q[target] - mean * m.of(constant, target), square = loss - own;
  // |mean| errs by little more than `error` / scale(constant), and |mean| · scale(constant) is at most reach.
  const double slack = 4 * error * (1 + 64 * epsilon);
  double t = 1, excess = 0, between = 0;
  for (int pass = 0; pass < 2; ++pass)
    for (std::size_t j = 0; j < d; ++j) {
      const double v = -2 * t * (q[j] - mean * m.of(constant, j)), off = 2 * t * slack * m.scale(j);
      const double own_lambda = lambda * problem_.factor(j);
      const double held = own_lambda * rho * (1 - 8 * epsilon), ridge = own_lambda * (1 - rho) * (1 - 8 * epsilon);
      const double bound = std::fabs(v) + off;
      if (!std::isfinite(bound)) t = 0;
      if (bounded && pass == 1) {
        const double term = box_term(v, off, ridge, held, problem_.bounds.least(j), problem_.bounds.most(j));
        excess -= term;
        between += std::fabs(term);
        continue;
      }
      if (!(bound > held)) continue;
      if (rho == 1 && pass == 0 && (v > 0 ? problem_.bounds.most(j) : -problem_.bounds.least(j)) == infinity)
        t *= (1 - (bounded ? 64 : 8) * epsilon) * held / bound;  // beyond it T is −∞, not a little less
      else if (rho < 1 && pass == 1)
        excess += (bound - held) * (bound - held) / (2 * ridge);
    }
  const double value = -2 * t * fit - t * t * square, doubt = 4 * slack * reach + 8 * epsilon * std::fabs(value);
  const double up = epsilon * (static_cast<double>(d) + 32);
  if (bounded)
    excess += up * between + 4 * epsilon * std::fabs(excess);
  else
    excess *= 1 + up;
  const double lower = value - doubt - excess - 64 * tiny;
  out.lower = std::min(lower > 0 ? lower : 0.0, out.upper);
  set_minimum_gap(out);
  out.radius = problem_.data.radius();
  out.support = m.rows();
  out.failure = std::max(0.0, loss);
  return out;
}

}  // namespace margin
