// What the tests of hard margins compare with: plain loops in long double that share nothing with the library. Rows
// are vectors of numbers, a maximum margin is found by enumerating the supports of its dual, best intercepts by
// enumerating the cycles of the classes.
#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/data/dataset.hpp"
#include "core/problem/problem.hpp"

namespace margin::reference {

using Real = long double;
using RealMatrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
using RealVector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;
constexpr Real infinite = std::numeric_limits<Real>::infinity();

inline std::size_t at(int i) { return static_cast<std::size_t>(i); }

struct Rows {
  std::vector<std::vector<double>> x;
  std::vector<int> y;
  int classes = 2;

  int count() const { return static_cast<int>(x.size()); }
  int dimensions() const { return x.empty() ? 0 : static_cast<int>(x[0].size()); }
  int outputs() const { return classes == 2 ? 1 : classes; }
  void add(std::vector<double> row, int label) {
    x.push_back(std::move(row));
    y.push_back(label);
  }
  Real radius() const {
    Real largest = 0;
    for (const auto& row : x) {
      Real square = 0;
      for (const double v : row) square += static_cast<Real>(v) * v;
      largest = std::max(largest, std::sqrt(square));
    }
    return largest;
  }
};

enum class Storage { doubles, floats, sparse };

/// Labels are the class numbers, so that sorted order is their own.
inline Dataset make_dataset(const Rows& rows, Storage storage = Storage::doubles,
                            std::pmr::memory_resource* memory = std::pmr::get_default_resource()) {
  Dataset data(Dataset::Outcome::classes, memory);
  for (int i = 0; i < rows.count(); ++i) {
    const std::vector<double>& x = rows.x[at(i)];
    const auto d = static_cast<std::int32_t>(x.size());
    const std::int32_t label = data.classes().intern(std::to_string(rows.y[at(i)]), rows.y[at(i)]);
    if (storage == Storage::doubles) {
      data.append(dense_row(x.data(), d), label);
    } else if (storage == Storage::floats) {
      const std::vector<float> narrow(x.begin(), x.end());
      data.append(dense_row(narrow.data(), d), label);
    } else {
      std::vector<std::int32_t> indices;
      std::vector<double> values;
      for (std::int32_t j = 0; j < d; ++j)
        if (x[static_cast<std::size_t>(j)] != 0) {
          indices.push_back(j);
          values.push_back(x[static_cast<std::size_t>(j)]);
        }
      data.append(sparse_row(indices.data(), values.data(), static_cast<std::int32_t>(values.size()), d), label);
    }
  }
  return data;
}

/// The smallest mean of a simple cycle of the complete graph on the classes: max_b min_{a≠c} m(a, c) + b_a − b_c.
inline Real smallest_cycle_mean(const RealMatrix& m) {
  const int k = static_cast<int>(m.rows());
  Real best = infinite;
  std::vector<bool> used(at(k), false);
  const std::function<void(int, int, Real, int)> walk = [&](int first, int last, Real sum, int edges) {
    if (edges > 0) best = std::min(best, (sum + m(last, first)) / (edges + 1));
    for (int c = first + 1; c < k; ++c) {
      if (used[at(c)]) continue;
      used[at(c)] = true;
      walk(first, c, sum + m(last, c), edges + 1);
      used[at(c)] = false;
    }
  };
  for (int first = 0; first < k; ++first) walk(first, first, 0, 0);
  return best;
}

/// (a, c): the least score_a − score_c over rows of class a, for weights of one row per output.
template <class Matrix>
RealMatrix smallest_pairs(const Rows& rows, const Matrix& w) {
  RealMatrix m = RealMatrix::Constant(rows.classes, rows.classes, infinite);
  for (int i = 0; i < rows.count(); ++i) {
    std::vector<Real> score(at(rows.outputs()), 0);
    for (int o = 0; o < rows.outputs(); ++o)
      for (int j = 0; j < rows.dimensions(); ++j)
        score[at(o)] += static_cast<Real>(w(o, j)) * static_cast<Real>(rows.x[at(i)][at(j)]);
    const int own = rows.y[at(i)];
    for (int c = 0; c < rows.classes; ++c) {
      if (c == own) continue;
      const Real value = rows.classes == 2 ? (own == 1 ? score[0] : -score[0]) : score[at(own)] - score[at(c)];
      m(own, c) = std::min(m(own, c), value);
    }
  }
  return m;
}

template <class Matrix>
Real norm_of(const Matrix& w) {
  Real square = 0;
  for (Eigen::Index i = 0; i < w.size(); ++i) square += static_cast<Real>(w.data()[i]) * static_cast<Real>(w.data()[i]);
  return std::sqrt(square);
}

/// The margin of a model as it is, with its own intercept.
inline Real model_margin(const Rows& rows, const Weights& w, const Eigen::VectorXd& b) {
  const Real norm = norm_of(w);
  if (norm == 0) return 0;
  const RealMatrix m = smallest_pairs(rows, w);
  Real least = infinite;
  for (int a = 0; a < rows.classes; ++a)
    for (int c = 0; c < rows.classes; ++c) {
      if (a == c) continue;
      const Real shift = rows.classes == 2 ? (a == 1 ? static_cast<Real>(b(0)) : -static_cast<Real>(b(0)))
                                           : static_cast<Real>(b(a)) - static_cast<Real>(b(c));
      least = std::min(least, m(a, c) + shift);
    }
  return least / norm;
}

/// The best margin that these weights can have with any intercepts (or none).
template <class Matrix>
Real best_margin(const Rows& rows, const Matrix& w, bool intercept) {
  const Real norm = norm_of(w);
  if (norm == 0) return 0;
  const RealMatrix m = smallest_pairs(rows, w);
  return (intercept ? smallest_cycle_mean(m) : m.minCoeff()) / norm;
}

struct Upper {
  Real value, imbalance;  ///< ‖Σ q z‖ / Σ q; how far the constraint of a free intercept is from holding
};

/// The upper bound that dual weights (rows × outputs) prove; two classes with intercept: each class normalised to ½.
inline Upper dual_upper(const Rows& rows, const Weights& q, bool intercept) {
  RealMatrix sum = RealMatrix::Zero(rows.outputs(), rows.dimensions());
  std::vector<Real> mass(2, 0);
  RealVector balance = RealVector::Zero(rows.classes);
  Real total = 0;
  for (int i = 0; i < rows.count(); ++i)
    if (rows.classes == 2) mass[at(rows.y[at(i)])] += q(i, 0);
  for (int i = 0; i < rows.count(); ++i) {
    const int own = rows.y[at(i)];
    for (int c = 0; c < rows.outputs(); ++c) {
      Real weight = q(i, c);
      if (rows.classes == 2) {
        weight *= intercept ? 0.5L / mass[at(own)] : 1;
        for (int j = 0; j < rows.dimensions(); ++j)
          sum(0, j) += (own == 1 ? weight : -weight) * static_cast<Real>(rows.x[at(i)][at(j)]);
      } else if (c != own) {
        balance(own) += weight;
        balance(c) -= weight;
        for (int j = 0; j < rows.dimensions(); ++j) {
          sum(own, j) += weight * static_cast<Real>(rows.x[at(i)][at(j)]);
          sum(c, j) -= weight * static_cast<Real>(rows.x[at(i)][at(j)]);
        }
      } else {
        continue;
      }
      total += weight;
    }
  }
  return {norm_of(sum) / total, intercept && rows.classes > 2 ? balance.cwiseAbs().sum() / total : 0};
}

/// The maximum margin, enclosed.
struct Margin {
  Real lower, upper;
};

/// All pairs (row, rival) as columns, in units where the largest row has norm 1, and the equalities A q = r of the
/// dual.
struct Pairs {
  RealMatrix z, a;
  RealVector r;
  std::vector<int> own, rival;
};

inline Pairs make_pairs(const Rows& rows, bool intercept) {
  const Real scale = 1 / rows.radius();
  const int d = rows.dimensions(), k = rows.classes, m = rows.count() * (k - 1);
  const int p = !intercept ? 1 : k;
  Pairs out{RealMatrix::Zero(rows.outputs() * d, m), RealMatrix::Zero(p, m), RealVector::Zero(p), {}, {}};
  int at_pair = 0;
  for (int i = 0; i < rows.count(); ++i)
    for (int c = 0; c < k; ++c) {
      const int own = rows.y[at(i)];
      if (c == own) continue;
      for (int j = 0; j < d; ++j) {
        const Real v = scale * static_cast<Real>(rows.x[at(i)][at(j)]);
        if (k == 2) {
          out.z(j, at_pair) = own == 1 ? v : -v;
        } else {
          out.z(own * d + j, at_pair) = v;
          out.z(c * d + j, at_pair) = -v;
        }
      }
      if (k == 2 && intercept) {
        out.a(own, at_pair) = 1;
      } else {
        out.a(0, at_pair) = 1;
        if (intercept && own > 0) out.a(own, at_pair) += 1;
        if (intercept && c > 0) out.a(c, at_pair) -= 1;
      }
      out.own.push_back(own);
      out.rival.push_back(c);
      ++at_pair;
    }
  out.r(0) = 1;
  if (k == 2 && intercept) out.r.setConstant(0.5L);
  return out;
}

/// The least norm in the hull by trying every support, smallest first, until primal and dual agree. Some optimum has
/// linearly independent columns (z; a), so supports up to rank suffice. Empty when no support verifies.
inline std::optional<Margin> maximum_margin(const Rows& rows, bool intercept) {
  const Real radius = rows.radius();
  if (radius == 0) return Margin{0, 0};
  const Pairs pairs = make_pairs(rows, intercept);
  const int m = static_cast<int>(pairs.z.cols()), p = static_cast<int>(pairs.a.rows());
  const int largest = std::min<int>(m, static_cast<int>(pairs.z.rows()) + p);
  const RealMatrix gram = pairs.z.transpose() * pairs.z;
  std::vector<int> support;
  const auto attempt = [&]() -> std::optional<Margin> {
    const int s = static_cast<int>(support.size());
    RealMatrix kkt = RealMatrix::Zero(s + p, s + p);
    for (int i = 0; i < s; ++i) {
      for (int j = 0; j < s; ++j) kkt(i, j) = gram(support[at(i)], support[at(j)]);
      kkt.block(i, s, 1, p) = pairs.a.col(support[at(i)]).transpose();
      kkt.block(s, i, p, 1) = pairs.a.col(support[at(i)]);
    }
    RealVector right = RealVector::Zero(s + p);
    right.tail(p) = pairs.r;
    const RealVector q = kkt.fullPivLu().solve(right).head(s);
    RealVector w = RealVector::Zero(pairs.z.rows()), sums = RealVector::Zero(p);
    for (int i = 0; i < s; ++i) {
      if (!(q(i) >= -1e-16L)) return std::nullopt;
      w += std::max<Real>(q(i), 0) * pairs.z.col(support[at(i)]);
      sums += std::max<Real>(q(i), 0) * pairs.a.col(support[at(i)]);
    }
    if (!((sums - pairs.r).cwiseAbs().maxCoeff() <= 1e-16L)) return std::nullopt;
    const Real norm = w.norm();
    if (norm <= 1e-15L) return Margin{0, 0};
    RealMatrix least = RealMatrix::Constant(rows.classes, rows.classes, infinite);
    for (int j = 0; j < m; ++j) {
      Real& value = least(pairs.own[at(j)], pairs.rival[at(j)]);
      value = std::min(value, pairs.z.col(j).dot(w));
    }
    const Real lower = (intercept ? smallest_cycle_mean(least) : least.minCoeff()) / norm;
    if (norm - lower > 1e-12L * norm) return std::nullopt;
    return Margin{(lower - 1e-17L) * radius, (norm + 1e-17L) * radius};
  };
  const std::function<std::optional<Margin>(int, int)> choose = [&](int from, int left) -> std::optional<Margin> {
    if (left == 0) return attempt();
    for (int j = from; j + left <= m; ++j) {
      support.push_back(j);
      const std::optional<Margin> found = choose(j + 1, left - 1);
      support.pop_back();
      if (found) return found;
    }
    return std::nullopt;
  };
  for (int size = 1; size <= largest; ++size)
    if (const std::optional<Margin> found = choose(0, size)) return found;
  return std::nullopt;
}

}  // namespace margin::reference
