// Plain solvers of kernel machines in long double: pairs of variables of the dual where the loss has kinks, Newton's
// method on all rows where it is smooth. They know the library's problems from docs/reference/ alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "margin_reference.hpp"

namespace margin::reference {

struct KernelProblem {
  std::vector<std::vector<double>> x;
  std::vector<double> y, weight;  ///< targets, or ±1
  std::string loss, kernel = "rbf";
  double lambda = 0.1, gamma = 1, epsilon = 0.1, tau = 0.5, smoothing = 1,
         nu = 0.5;  ///< polynomials: degree 3, coef0 1
  bool intercept = true;
};

struct Bracket {
  Real lower, upper;
};

inline std::vector<std::vector<Real>> kernel_matrix(const KernelProblem& p) {
  const std::size_t n = p.x.size();
  std::vector<std::vector<Real>> k(n, std::vector<Real>(n));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      Real dot = 0, distance = 0;
      for (std::size_t f = 0; f < p.x[i].size(); ++f) {
        dot += static_cast<Real>(p.x[i][f]) * p.x[j][f];
        distance += (static_cast<Real>(p.x[i][f]) - p.x[j][f]) * (static_cast<Real>(p.x[i][f]) - p.x[j][f]);
      }
      const Real g = p.gamma;
      k[i][j] = p.kernel == "linear" ? dot : p.kernel == "rbf" ? std::exp(-g * distance) : std::pow(g * dot + 1, 3);
    }
  return k;
}

/// φ, φ' and φ'' at a score. Where φ'' jumps, that of either side.
struct LossAt {
  Real value, slope, bend;
};
inline LossAt loss_at(const KernelProblem& p, Real u, Real y) {
  const Real e = p.epsilon, g = p.smoothing, m = y * u, r = u - y;
  const std::string& l = p.loss;
  if (l == "logistic") {
    const Real s = 1 / (1 + std::exp(m));
    return {m > 0 ? std::log1p(std::exp(-m)) : std::log1p(std::exp(m)) - m, -y * s, s * (1 - s)};
  }
  if (l == "squared_hinge") return m < 1 ? LossAt{(1 - m) * (1 - m), -2 * y * (1 - m), 2} : LossAt{0, 0, 0};
  if (l == "smoothed_hinge") {
    if (m >= 1) return {0, 0, 0};
    if (m <= 1 - g) return {1 - m - g / 2, -y, 0};
    return {(1 - m) * (1 - m) / (2 * g), -y * (1 - m) / g, 1 / g};
  }
  if (l == "squared") return {r * r, 2 * r, 2};
  if (l == "huber")
    return std::fabs(r) <= g ? LossAt{r * r / (2 * g), r / g, 1 / g}
                             : LossAt{std::fabs(r) - g / 2, static_cast<Real>(r > 0 ? 1 : -1), 0};
  if (l == "squared_epsilon_insensitive") {
    const Real over = std::fabs(r) - e;
    return over > 0 ? LossAt{over * over, r > 0 ? 2 * over : -2 * over, 2} : LossAt{0, 0, 0};
  }
  if (l == "hinge") return {std::max<Real>(0, 1 - m), m < 1 ? -y : 0, 0};
  if (l == "absolute") return {std::fabs(r), static_cast<Real>(r > 0 ? 1 : -1), 0};
  if (l == "epsilon_insensitive") return {std::max<Real>(0, std::fabs(r) - e), 0, 0};
  if (l == "quantile") return {std::max(p.tau * -r, (p.tau - 1) * -r), 0, 0};
  if (l != "one_class") throw std::logic_error("no reference for the loss " + l);
  return {std::max<Real>(0, -u) / p.nu, 0, 0};
}

/// P of a w = Σ β k(x_i, ·) and b; ‖w‖² and scores are at hand.
inline Real primal_of(const KernelProblem& p, Real square, const std::vector<Real>& f, Real b) {
  Real total = 0, sum = 0;
  for (std::size_t i = 0; i < f.size(); ++i) {
    total += p.weight[i];
    sum += p.weight[i] * loss_at(p, f[i] + b, p.y[i]).value;
  }
  return (p.loss == "one_class" ? 1 : static_cast<Real>(p.lambda)) / 2 * square + sum / total +
         (p.loss == "one_class" ? b : 0);
}

/// Losses of straight pieces: max Σ t β − ½ βᵀKβ over boxes, a variable for each piece, by pairs that violate most.
inline Bracket optimum_of_pieces(const KernelProblem& p) {
  const auto k = kernel_matrix(p);
  const std::size_t n = p.x.size();
  const bool one_class = p.loss == "one_class";
  Real total = 0;
  for (const double c : p.weight) total += c;
  struct Variable {
    std::size_t row;
    Real target, low, high, value;
  };
  std::vector<Variable> v;
  std::vector<Real> kinks;
  for (std::size_t i = 0; i < n; ++i) {
    const Real c = p.weight[i] / ((one_class ? 1 : static_cast<Real>(p.lambda)) * total), y = p.y[i], e = p.epsilon;
    if (p.loss == "hinge") v.push_back({i, y, y > 0 ? 0 : -c, y > 0 ? c : 0, 0});
    if (p.loss == "absolute") v.push_back({i, y, -c, c, 0});
    if (p.loss == "quantile") v.push_back({i, y, (static_cast<Real>(p.tau) - 1) * c, p.tau * c, 0});
    if (p.loss == "epsilon_insensitive") {
      v.push_back({i, y - e, 0, c, 0});
      v.push_back({i, y + e, -c, 0, 0});
    }
    if (one_class) v.push_back({i, 0, 0, c / p.nu, c});
  }
  std::vector<Real> f(n, 0);
  for (const Variable& q : v)
    for (std::size_t i = 0; i < n; ++i) f[i] += q.value * k[i][q.row];
  const bool pairs = p.intercept || one_class;
  Real scale = 0;
  for (std::size_t i = 0; i < n; ++i) scale = std::max(scale, k[i][i]);
  for (int step = 0; step < 2000000; ++step) {
    const Variable *up = nullptr, *down = nullptr;
    auto error = [&](const Variable& q) { return q.target - f[q.row]; };
    for (const Variable& q : v) {
      if (q.value < q.high && (up == nullptr || error(q) > error(*up))) up = &q;
      if (q.value > q.low && (down == nullptr || error(q) < error(*down))) down = &q;
    }
    const Real top = up == nullptr ? 0 : error(*up), bottom = down == nullptr ? 0 : error(*down);
    if (pairs && (up == nullptr || down == nullptr)) break;
    const Real tolerance = 1e-15L * (scale + std::fabs(top));
    if ((pairs ? top - bottom : std::max(top, -bottom)) < tolerance) break;
    auto move = [&](const Variable* q, Real by) {
      const_cast<Variable*>(q)->value += by;
      for (std::size_t i = 0; i < n; ++i) f[i] += by * k[i][q->row];
    };
    if (pairs) {
      const Real bend = k[up->row][up->row] + k[down->row][down->row] - 2 * k[up->row][down->row];
      const Real by =
          std::min({(top - bottom) / std::max(bend, 1e-17L * scale), up->high - up->value, down->value - down->low});
      const bool up_full = by == up->high - up->value, down_full = by == down->value - down->low;
      move(up, by);
      move(down, -by);
      if (up_full) const_cast<Variable*>(up)->value = up->high;
      if (down_full) const_cast<Variable*>(down)->value = down->low;
    } else {
      const Variable* q = top > -bottom ? up : down;
      const Real to = q->value + error(*q) / std::max(k[q->row][q->row], 1e-17L * scale);
      move(q, std::min(q->high, std::max(q->low, to)) - q->value);
    }
  }
  Real square = 0, linear = 0;
  for (const Variable& q : v) {
    square += q.value * f[q.row];
    linear += q.value * q.target;
  }
  Real upper = std::numeric_limits<Real>::infinity();
  if (!pairs) upper = primal_of(p, square, f, 0);
  for (const Variable& q : v)  // a best intercept is at a kink
    if (pairs) upper = std::min(upper, primal_of(p, square, f, q.target - f[q.row]));
  return {(one_class ? 1 : static_cast<Real>(p.lambda)) * (linear - square / 2), upper};
}

/// Smooth losses: Newton's method on (β, b) with halved steps; a bracket from the gradient that is left, as P has the
/// curvature lambda in w. b is optimal up to what is left of its own derivative.
inline Bracket optimum_of_smooth(const KernelProblem& p) {
  const auto k = kernel_matrix(p);
  const std::size_t n = p.x.size(), m = n + (p.intercept ? 1 : 0);
  Real total = 0, b = 0;
  for (const double c : p.weight) total += c;
  if (p.intercept)
    for (std::size_t i = 0; i < n; ++i) b += p.weight[i] * p.y[i] / total;
  std::vector<Real> beta(n, 0), f(n, 0);
  auto scores = [&](const std::vector<Real>& w) {
    std::vector<Real> out(n, 0);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) out[i] += k[i][j] * w[j];
    return out;
  };
  auto value = [&](const std::vector<Real>& w, const std::vector<Real>& s, Real c) {
    Real square = 0;
    for (std::size_t i = 0; i < n; ++i) square += w[i] * s[i];
    return primal_of(p, square, s, c);
  };
  Real best = value(beta, f, b);
  for (int step = 0; step < 500; ++step) {
    // β + g = 0 and Σ β = 0, g = c φ'/(λW): (I + H K) dβ + H 1 db = −(β + g).
    std::vector<std::vector<Real>> a(m, std::vector<Real>(m + 1, 0));
    for (std::size_t i = 0; i < n; ++i) {
      const LossAt at = loss_at(p, f[i] + b, p.y[i]);
      const Real c = p.weight[i] / (p.lambda * total);
      for (std::size_t j = 0; j < n; ++j) a[i][j] = c * at.bend * k[i][j] + (i == j ? 1 : 0);
      if (p.intercept) a[i][n] = c * at.bend;
      a[i][m] = -(beta[i] + c * at.slope);
      if (p.intercept) {
        a[n][i] = 1;
        a[n][m] -= beta[i];
      }
    }
    for (std::size_t c = 0; c < m; ++c) {
      std::size_t pivot = c;
      for (std::size_t r = c; r < m; ++r)
        if (std::fabs(a[r][c]) > std::fabs(a[pivot][c])) pivot = r;
      std::swap(a[c], a[pivot]);
      if (std::fabs(a[c][c]) < 1e-30L) continue;
      for (std::size_t r = 0; r < m; ++r) {
        if (r == c) continue;
        const Real factor = a[r][c] / a[c][c];
        for (std::size_t t = c; t <= m; ++t) a[r][t] -= factor * a[c][t];
      }
    }
    std::vector<Real> direction(m, 0);
    for (std::size_t c = 0; c < m; ++c) direction[c] = std::fabs(a[c][c]) < 1e-30L ? 0 : a[c][m] / a[c][c];
    Real t = 1;
    bool moved = false;
    for (; t > 1e-12L; t /= 2) {
      std::vector<Real> w = beta;
      for (std::size_t i = 0; i < n; ++i) w[i] += t * direction[i];
      const Real shifted = b + (p.intercept ? t * direction[n] : 0);
      const std::vector<Real> s = scores(w);
      const Real now = value(w, s, shifted);
      if (!(now < best)) continue;
      best = now;
      beta = w;
      f = s;
      b = shifted;
      moved = true;
      break;
    }
    if (!moved) break;
  }
  // P(w) − P* ≤ ‖∇P‖²/(2λ) in the kernel's norm, for the best b of this w.
  std::vector<Real> rest(n);
  for (std::size_t i = 0; i < n; ++i)
    rest[i] = p.lambda * beta[i] + p.weight[i] / total * loss_at(p, f[i] + b, p.y[i]).slope;
  const std::vector<Real> image = scores(rest);
  Real square = 0;
  for (std::size_t i = 0; i < n; ++i) square += rest[i] * image[i];
  return {best - std::max<Real>(square, 0) / (2 * p.lambda) - 1e-17L * best, best};
}

inline Bracket optimum(const KernelProblem& p) {
  const bool pieces = p.loss == "hinge" || p.loss == "absolute" || p.loss == "epsilon_insensitive" ||
                      p.loss == "quantile" || p.loss == "one_class";
  return pieces ? optimum_of_pieces(p) : optimum_of_smooth(p);
}

}  // namespace margin::reference
