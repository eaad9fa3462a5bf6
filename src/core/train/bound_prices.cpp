#include "core/train/bound_prices.hpp"

#include <algorithm>
#include <cmath>

#include "core/certificate/check.hpp"
#include "core/loss/loss.hpp"

namespace margin {

namespace {

/// The derivative of the penalty less v w at w, in the direction of `way`, 1 or −1.
double slope(const Statement& p, std::int32_t j, double w, double v, double way) {
  const double lambda = p.lambda * p.factor(static_cast<std::size_t>(j));
  const double sign = w != 0 ? std::copysign(1.0, w) : way;
  return lambda * ((1 - p.l1_ratio) * w + p.l1_ratio * sign) - v;
}

}  // namespace

bool at_bound(const Statement& s, const Weights& w) {
  for (Eigen::Index o = 0; o < w.rows() && !s.bounds.empty(); ++o)
    for (std::int32_t j = 0; j < w.cols(); ++j) {
      const auto at = static_cast<std::size_t>(j);
      if (s.penalises(j) && (w(o, j) == s.bounds.least(at) || w(o, j) == s.bounds.most(at))) return true;
    }
  return false;
}

Weights image_of_rows(const Problem& p, const Weights& w, const Eigen::VectorXd& intercept, const Weights& dual,
                      const Progress& progress) {
  Weights v = Weights::Zero(w.rows(), w.cols());
  const bool known = has_dual_weights(p, dual);
  for (std::int64_t i = 0; i < p.rows(); ++i) {
    const Row x = p.data.row(i);
    const double share = p.weight(i) / p.total_weight;
    for (std::int32_t o = 0; o < p.outputs(); ++o) {
      const double y = p.target(i, o);
      const double a = known ? p.loss->project(dual(i, o), y)
                             : -p.loss->derivative(dot(x, w.row(o).data()) + (p.intercept ? intercept(o) : 0.0), y);
      if (a != 0 && share > 0) add(share * a, x, v.row(o).data());
    }
    progress.work((x.count + 16.0) * p.outputs());
  }
  return v;
}

Weights bound_prices(const Statement& p, const Weights& w, Weights v, const Weights& multipliers) {
  for (std::size_t k = 0; k < p.constraints.count() && multipliers.size() > 0; ++k)
    for (std::int32_t o = 0; o < p.outputs(); ++o)
      p.constraints.rows.add(k, -multipliers(o, static_cast<Eigen::Index>(k)), v.row(o).data());
  Weights prices = Weights::Zero(w.rows(), w.cols());
  for (std::int32_t o = 0; o < p.outputs(); ++o)
    for (std::int32_t j = 0; j < w.cols(); ++j) {
      if (!p.penalises(j)) continue;
      const auto at = static_cast<std::size_t>(j);
      const double l = p.bounds.least(at), u = p.bounds.most(at);
      if (w(o, j) == u) prices(o, j) = std::min(0.0, slope(p, j, u, v(o, j), 1));
      if (w(o, j) == l && prices(o, j) == 0) prices(o, j) = std::max(0.0, slope(p, j, l, v(o, j), -1));
    }
  return prices;
}

}  // namespace margin
