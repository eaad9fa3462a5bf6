// Small random problems for the tests of soft margins, and an optimum found in another way.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/base/random.hpp"
#include "core/loss/loss.hpp"
#include "core/solvers/solver.hpp"
#include "label_of.hpp"

namespace margin::testing {

/// Rows as plain numbers: what a Dataset is built from, and what the reference works on.
struct Table {
  std::vector<std::vector<double>> x;
  std::vector<double> y;  ///< class index or target
  std::vector<double> weight;

  int rows() const { return static_cast<int>(x.size()); }
  int dimensions() const { return x.empty() ? 0 : static_cast<int>(x[0].size()); }
};

inline double normal(Random& random) {
  const double u = 1 - random.uniform();
  return std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586 * random.uniform());
}

/// Shapes that trouble solvers: 0 plain, 1 rank-deficient, 2 duplicated and contradictory rows, 3 one tiny class, 4
/// rows of zeros, 5 constant column and wild scales, 6 more features than rows, 7 separable.
inline Table make_table(Random& random, int shape, bool classes, int number_of_classes = 2) {
  const int n = 6 + static_cast<int>(random.below(20)), d = shape == 6 ? n + 5 : 1 + static_cast<int>(random.below(5));
  Table t;
  std::vector<double> w(static_cast<std::size_t>(d));
  for (double& v : w) v = normal(random);
  for (int i = 0; i < n; ++i) {
    std::vector<double> x(static_cast<std::size_t>(d));
    for (double& v : x) v = normal(random);
    if (shape == 1)
      for (std::size_t j = 1; j < x.size(); ++j) x[j] = x[0] * static_cast<double>(j);
    if (shape == 4 && i % 3 == 0) std::fill(x.begin(), x.end(), 0.0);
    if (shape == 5) {
      x[0] = 1;
      if (d > 1) x[1] *= 100;
      if (d > 2) x[2] *= 0.01;
    }
    double score = 0;
    for (std::size_t j = 0; j < x.size(); ++j) score += w[j] * x[j];
    if (shape != 7) score += normal(random);
    if (!classes)
      t.y.push_back(score);
    else if (number_of_classes == 2)
      t.y.push_back(shape == 3 ? (i == 0 ? 1 : 0) : (score > 0 ? 1 : 0));
    else
      t.y.push_back(std::clamp(std::floor(score + number_of_classes / 2.0), 0.0, number_of_classes - 1.0));
    t.x.push_back(std::move(x));
  }
  if (shape == 2)
    for (int i = 1; i < n; i += 2) {
      t.x[static_cast<std::size_t>(i)] = t.x[static_cast<std::size_t>(i - 1)];
      if (i % 4 == 1) t.y[static_cast<std::size_t>(i)] = t.y[static_cast<std::size_t>(i - 1)];
    }
  if (classes)
    for (int c = 0; c < number_of_classes; ++c) t.y[static_cast<std::size_t>(c)] = c;
  return t;
}

/// The table with labels that the loss takes: amounts of 0 and more, some of them not whole, where e^u is their mean.
inline Table labels_for(const std::string& loss, Table t) {
  if (!make_loss(loss, {})->log_link()) return t;
  for (double& y : t.y) y = std::floor(2 * std::fabs(y)) / 2;
  return t;
}

inline Dataset make_dataset(const Table& t, bool classes, int number_of_classes = 2) {
  Dataset data(classes ? Dataset::Outcome::classes : Dataset::Outcome::targets);
  for (int c = 0; classes && c < number_of_classes; ++c) data.classes().intern(std::to_string(c), c);
  for (std::size_t i = 0; i < t.x.size(); ++i)
    data.append(dense_row(t.x[i].data(), t.dimensions()), label_of(data, t.y[i]), t.weight.empty() ? 1.0 : t.weight[i]);
  return data;
}

/// Primal and dual value of an optimum found by cyclic ascent over formulas of this file's own, in plain doubles on the
/// dense rows. D* and P* are enclosed: dual ≤ P* ≤ primal.
struct Reference {
  double primal = 0, dual = 0;
  std::vector<double> w;
  double b = 0;
};

/// −φ*(−a) = a y − ε|a| − (q/2) a² on [low, high], for every loss but the logistic and Poisson's.
struct DualShape {
  double epsilon = 0, q = 0, low = 0, high = 0;
};

inline DualShape dual_shape(const std::string& loss, double y, const Options& s) {
  const double inf = std::numeric_limits<double>::infinity();
  const double low = y > 0 ? 0 : -1, high = y > 0 ? 1 : 0;
  if (loss == "hinge") return {0, 0, low, high};
  if (loss == "smoothed_hinge") return {0, s.smoothing, low, high};
  if (loss == "squared_hinge") return {0, 0.5, y > 0 ? 0 : -inf, y > 0 ? inf : 0};
  if (loss == "squared") return {0, 0.5, -inf, inf};
  if (loss == "absolute") return {0, 0, -1, 1};
  if (loss == "epsilon_insensitive") return {s.epsilon, 0, -1, 1};
  if (loss == "squared_epsilon_insensitive") return {s.epsilon, 0.5, -inf, inf};
  if (loss == "huber") return {0, s.smoothing, -1, 1};
  if (loss == "quantile") return {0, 0, s.quantile - 1, s.quantile};
  throw std::logic_error("no reference for the loss " + loss);
}

/// `y`: ±1 or targets; `c`: weight of each loss; `total`: W.
inline Reference solve_reference(const Table& t, const std::vector<double>& y, const std::vector<double>& c,
                                 double total, const std::string& loss, const Options& s, int epochs) {
  const int n = t.rows(), d = t.dimensions();
  const double lambda = *s.lambda, smooth = lambda * (1 - s.l1_ratio), kappa = s.l1_ratio / (1 - s.l1_ratio);
  const double feature = s.intercept ? s.intercept_scale : 0;
  std::vector<double> a(static_cast<std::size_t>(n), 0.0), z(static_cast<std::size_t>(d), 0.0), w = z;
  double zb = 0;
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  // Of s.bounds, one pair a feature.
  const auto between = [&](double v, std::size_t j) {
    return s.bounds.empty() ? v : std::min(std::max(v, s.bounds[j].lower), s.bounds[j].upper);
  };
  for (std::size_t j = 0; j < w.size(); ++j) w[j] = between(0, j);
  const auto score = [&](int i) {
    double u = zb * feature;
    for (int j = 0; j < d; ++j) u += w[at(j)] * t.x[at(i)][at(j)];
    return u;
  };
  const auto conjugate = [&](int i) {  // −φ*(−a)
    if (loss == "logistic") {
      const double p = a[at(i)] * y[at(i)];
      return -(p > 0 ? p * std::log(p) : 0.0) - (p < 1 ? (1 - p) * std::log1p(-p) : 0.0);
    }
    if (loss == "poisson") {
      const double b = y[at(i)] - a[at(i)];
      return b - y[at(i)] - (b > 0 ? b * std::log(b) : 0.0) + (y[at(i)] > 0 ? y[at(i)] * std::log(y[at(i)]) : 0.0);
    }
    const DualShape f = dual_shape(loss, y[at(i)], s);
    return a[at(i)] * y[at(i)] - f.epsilon * std::fabs(a[at(i)]) - f.q / 2 * a[at(i)] * a[at(i)];
  };
  const auto value = [&](double u, double target) {
    const double r = 1 - target * u, e = std::fabs(u - target), g = s.smoothing;
    if (loss == "hinge") return std::max(0.0, r);
    if (loss == "smoothed_hinge") return r <= 0 ? 0.0 : (r < g ? r * r / (2 * g) : r - g / 2);
    if (loss == "squared_hinge") return std::max(0.0, r) * std::max(0.0, r);
    if (loss == "logistic") return r < 1 ? std::log1p(std::exp(r - 1)) : std::log1p(std::exp(1 - r)) + r - 1;
    if (loss == "squared") return e * e;
    if (loss == "poisson") return std::exp(u) - target - (target > 0 ? target * (u - std::log(target)) : 0.0);
    if (loss == "absolute") return e;
    if (loss == "quantile") return u < target ? s.quantile * e : (1 - s.quantile) * e;
    if (loss == "epsilon_insensitive") return std::max(0.0, e - s.epsilon);
    if (loss == "squared_epsilon_insensitive") return std::max(0.0, e - s.epsilon) * std::max(0.0, e - s.epsilon);
    return e < g ? e * e / (2 * g) : e - g / 2;
  };
  Reference best;
  best.primal = std::numeric_limits<double>::infinity();
  best.dual = -best.primal;
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    for (int k = 0; k < n; ++k) {
      const int i = epoch % 2 == 0 ? k : (k * 7 + epoch) % n;
      double square = feature * feature;
      for (const double v : t.x[at(i)]) square += v * v;
      const double scale = c[at(i)] / (smooth * total), q = scale * square, old = a[at(i)], u = score(i);
      if (loss == "logistic") {  // bisection for ln((1−p)/p) = y u + q (p − p_old), in the logit of p
        double low = -700, high = 700;
        for (int step = 0; step < 100; ++step) {
          const double logit = (low + high) / 2, p = 1 / (1 + std::exp(-logit));
          (-logit - y[at(i)] * u - q * (p - old * y[at(i)]) > 0 ? low : high) = logit;
        }
        a[at(i)] = y[at(i)] / (1 + std::exp(-low));
      } else if (loss == "poisson") {  // ln b + q (b − b_old) = u, in ln b
        double low = -700, high = 700;
        for (int step = 0; step < 100; ++step) {
          const double middle = (low + high) / 2;
          (middle + q * (std::exp(middle) - (y[at(i)] - old)) > u ? high : low) = middle;
        }
        a[at(i)] = y[at(i)] - std::exp(low);
      } else {
        const DualShape f = dual_shape(loss, y[at(i)], s);
        const double r = y[at(i)] - u + q * old;
        const double soft = r > f.epsilon ? r - f.epsilon : (r < -f.epsilon ? r + f.epsilon : 0.0);
        a[at(i)] =
            q + f.q > 0 ? std::clamp(soft / (q + f.q), f.low, f.high) : (soft > 0 ? f.high : (soft < 0 ? f.low : 0));
      }
      const double move = scale * (a[at(i)] - old);
      zb += move * feature;
      for (int j = 0; j < d; ++j) {
        z[at(j)] += move * t.x[at(i)][at(j)];
        w[at(j)] = between(std::copysign(std::max(0.0, std::fabs(z[at(j)]) - kappa), z[at(j)]), at(j));
      }
    }
    if (epoch != epochs && epoch % 50 != 0) continue;
    double primal = 0, dual = 0, squares = zb * zb, absolute = 0;
    for (int i = 0; i < n; ++i) {
      primal += c[at(i)] * value(score(i), y[at(i)]) / total;
      dual += c[at(i)] * conjugate(i) / total;
    }
    for (const double v : w) {
      squares += v * v;
      absolute += std::fabs(v);
    }
    primal += smooth / 2 * squares + lambda * s.l1_ratio * absolute;
    double conjugate_penalty = zb * zb / 2;
    for (int j = 0; j < d; ++j)
      conjugate_penalty += z[at(j)] * w[at(j)] - w[at(j)] * w[at(j)] / 2 - kappa * std::fabs(w[at(j)]);
    dual -= s.bounds.empty() ? smooth / 2 * squares : smooth * conjugate_penalty;
    if (primal < best.primal) {
      best.w = w;
      best.b = zb * feature;
    }
    best.primal = std::min(best.primal, primal);
    best.dual = std::max(best.dual, dual);
    if (best.primal - best.dual <= 1e-11 * std::max(std::fabs(best.primal), std::fabs(best.dual))) break;
  }
  return best;
}

}  // namespace margin::testing
