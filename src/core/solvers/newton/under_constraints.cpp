#include "core/solvers/newton/under_constraints.hpp"

#include <algorithm>
#include <cmath>

#include "core/math/rounding.hpp"
#include "core/problem/constraints.hpp"

namespace margin {

UnderConstraints::UnderConstraints(const NewtonRows& rows, std::vector<double>& multipliers)
    : rows_(rows), multipliers_(multipliers) {
  if (rows.constraints() != nullptr) multipliers.resize(rows.constraints()->count());
}

double UnderConstraints::penalty_gap(const std::vector<double>& w, const std::vector<double>& r) const {
  const Constraints* const c = rows_.constraints();
  if (c == nullptr)
    return rows_.bounded() ? rows_.penalty_gap(w.data(), r.data()) : 0.5 * rows_.penalized_product(r.data(), r.data());
  std::vector<double> own = r;
  double left = 0;
  for (std::size_t k = 0; k < c->count(); ++k) {
    const double nu = multipliers_[k];
    if (nu == 0) continue;
    c->rows.add(k, nu, own.data());
    // Rounding alone takes a row beyond its end.
    left += std::max(0.0, nu * ((nu > 0 ? c->upper[k] : c->lower[k]) - c->rows.product(k, w.data())));
  }
  return left + (rows_.bounded() ? rows_.penalty_gap(w.data(), own.data())
                                 : 0.5 * rows_.penalized_product(own.data(), own.data()));
}

double UnderConstraints::conjugate_penalty(const std::vector<double>& v) const {
  const Constraints* const c = rows_.constraints();
  if (c == nullptr) return rows_.conjugate_penalty(v.data());
  std::vector<double> own = v;
  double ends = 0;
  for (std::size_t k = 0; k < c->count(); ++k) {
    const double nu = multipliers_[k];
    if (nu == 0) continue;
    c->rows.add(k, -nu, own.data());
    ends += nu * (nu > 0 ? c->upper[k] : c->lower[k]);
  }
  return rows_.conjugate_penalty(own.data()) + ends;
}

void UnderConstraints::step(const SymmetricMatrix& factor, const std::vector<double>& w, const std::vector<double>& r,
                            std::vector<double>& d) {
  if (rows_.constraints() == nullptr) {
    for (std::size_t j = 0; j < w.size(); ++j) d[j] = -r[j];
    solve_factored(factor, d.data());
    return;
  }
  std::vector<double> low, high;
  for (std::size_t j = 0; rows_.bounded() && j < w.size(); ++j) {
    low.push_back(rows_.low(j));
    high.push_back(rows_.high(j));
  }
  ConstrainedQp qp = step_within(*rows_.constraints(), low, high, w, r);
  qp.factor = &factor;
  QpSolution s = solve_constrained_qp(qp, rows_.run().progress());
  if (s.ending != QpSolution::Ending::solved) {  // rounding: stay, and let the gap say what is left
    std::fill(d.begin(), d.end(), 0.0);
    return;
  }
  d = std::move(s.d);
  multipliers_ = std::move(s.multipliers);
  drop_rounding(factor, w, s.length, d);
}

void UnderConstraints::drop_rounding(const SymmetricMatrix& factor, const std::vector<double>& w, double length,
                                     std::vector<double>& d) const {
  // |w_j| sqrt(H_jj), the same in all units.
  std::vector<double> size(w.size(), 0.0);
  for (std::size_t i = 0; i < w.size(); ++i)
    for (std::size_t j = i; j < w.size(); ++j) size[j] += factor.row(i)[j] * factor.row(i)[j];
  for (std::size_t j = 0; j < w.size(); ++j) size[j] = std::fabs(w[j] + d[j]) * std::sqrt(size[j]);
  const double least = 64 * epsilon * std::max(length, *std::max_element(size.begin(), size.end()));
  const Constraints& c = *rows_.constraints();
  for (std::size_t k = 0; k < c.count(); ++k) {
    if (multipliers_[k] == 0 || (multipliers_[k] > 0 ? c.upper[k] : c.lower[k]) != 0) continue;
    const auto begin = c.rows.feature.begin() + c.rows.begin[k], end = c.rows.feature.begin() + c.rows.begin[k + 1];
    if (!std::all_of(begin, end, [&](std::int32_t j) { return size[static_cast<std::size_t>(j)] <= least; })) continue;
    for (auto at = begin; at != end; ++at) {
      const auto j = static_cast<std::size_t>(*at);
      if (!rows_.bounded() || (rows_.low(j) <= 0 && rows_.high(j) >= 0)) d[j] = -w[j];
    }
  }
}

}  // namespace margin
