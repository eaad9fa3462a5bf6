// Coordinate descent: Friedman, Hastie, Tibshirani (2010), "covariance updates" with a matrix and "naive updates"
// without. Newton's step on a face: the quadratic is exact there, so that it ends at the minimum of the face or at its
// border.
#include "core/solvers/elastic_net/l1_quadratic.hpp"

#include <algorithm>
#include <cmath>

#include "core/math/box_term.hpp"
#include "core/math/rounding.hpp"

namespace margin {

namespace {

constexpr int most_rounds = 2000;

double low(const L1Coordinates& at, std::size_t j) { return at.low.empty() ? -infinity : at.low[j]; }
double high(const L1Coordinates& at, std::size_t j) { return at.low.empty() ? infinity : at.high[j]; }

/// Where the coordinate has its minimum, for the curvature `h` of the quadratic and its gradient `g` at z.
double minimum(const L1Coordinates& at, std::size_t j, double h, double g) {
  const double curvature = h + at.l2[j], pull = h * at.z[j] - g;
  if (!(curvature > 0)) return at.z[j];
  return box_minimiser(pull, curvature, at.l1[j], low(at, j), high(at, j));
}

/// The derivative in a coordinate that is at no kink.
double slope_at(const L1Coordinates& at, std::size_t j) {
  return at.g[j] + at.l2[j] * at.z[j] + (at.l1[j] == 0 ? 0 : std::copysign(at.l1[j], at.z[j]));
}

/// Not at a kink, nor held by a bound.
bool moves(const L1Coordinates& at, std::size_t j) {
  if (at.z[j] == 0 && at.l1[j] > 0) return false;
  if (at.low.empty()) return true;
  const double slope = slope_at(at, j);
  return !(at.z[j] <= at.low[j] && slope >= 0) && !(at.z[j] >= at.high[j] && slope <= 0);
}

}  // namespace

/// The last factor without those that are no members any more, and with those that came; false where it takes as long anew.
bool FaceSteps::follow(const L1Coordinates& at, const double* h, std::size_t stride, const Progress& progress) {
  const std::size_t s = members_.size();
  std::vector<char>& is_new = mark_;
  is_new.assign(at.size(), 0);
  for (const std::size_t j : members_) is_new[j] = 1;
  std::size_t kept = 0;
  for (const std::size_t j : factored_) kept += is_new[j] != 0 ? 1 : 0;
  if (kept == 0 || 4 * (factored_.size() - kept) > s || 8 * (s - kept) > s || s > matrix_.size()) return false;
  for (std::size_t p = factored_.size(); p-- > 0;) {
    if (is_new[factored_[p]] != 0) continue;
    remove_factored(matrix_, factored_.size(), p, progress);
    factored_.erase(factored_.begin() + static_cast<std::ptrdiff_t>(p));
  }
  for (const std::size_t j : factored_) is_new[j] = 0;
  for (const std::size_t j : members_)
    if (is_new[j] != 0 && !append(j, at, h, stride)) return false;
  progress.work(static_cast<double>((s - kept) * s * s) / 4);
  members_ = factored_;
  return true;
}

void FaceSteps::renumber(const std::vector<std::int32_t>& places, const Progress& progress) {
  std::size_t gone = 0;
  for (const std::size_t j : factored_) gone += places[j] < 0 ? 1 : 0;
  if (4 * gone > factored_.size()) return begin();
  for (std::size_t p = factored_.size(); p-- > 0;) {
    const std::int32_t to = places[factored_[p]];
    if (to >= 0) {
      factored_[p] = static_cast<std::size_t>(to);
      continue;
    }
    remove_factored(matrix_, factored_.size(), p, progress);
    factored_.erase(factored_.begin() + static_cast<std::ptrdiff_t>(p));
  }
}

/// The factor with one more coordinate, the last; false where it depends on the others.
bool FaceSteps::append(std::size_t j, const L1Coordinates& at, const double* h, std::size_t stride) {
  constexpr double least_pivot = 1e-9;
  const std::size_t n = factored_.size();
  direction_.resize(n);
  for (std::size_t q = 0; q < n; ++q) direction_[q] = h[j * stride + factored_[q]];
  const double own = h[j * stride + j] + at.l2[j];
  double rest = own;
  for (std::size_t q = 0; q < n; ++q) {
    const double* const row = matrix_.row(q);
    const double v = direction_[q] /= row[q];
    simd().axpy_d(-v, row + q + 1, direction_.data() + q + 1, n - q - 1);
    rest -= v * v;
  }
  if (!(rest > least_pivot * own)) return false;
  for (std::size_t q = 0; q < n; ++q) matrix_.row(q)[n] = direction_[q];
  matrix_.row(n)[n] = std::sqrt(rest);
  factored_.push_back(j);
  return true;
}

/// The factor of the members' matrix, whose order becomes that of the factor.
bool FaceSteps::factor(const L1Coordinates& at, const double* h, std::size_t stride, const Progress& progress) {
  const std::size_t s = members_.size(), spare = 4 + s / 8;
  if (follow(at, h, stride, progress)) return true;
  factored_.clear();
  double top = 0;
  for (const std::size_t j : members_) top = std::max(top, h[j * stride + j] + at.l2[j]);
  for (double damping = 0; damping < 1e-3; damping = damping == 0 ? 1e-14 : 1e4 * damping) {
    matrix_.reset(s + spare, progress);
    for (std::size_t p = 0; p < s; ++p) {
      const double* const from = h + members_[p] * stride;
      double* const to = matrix_.row(p);
      for (std::size_t q = p; q < s; ++q) to[q] = from[members_[q]];
      to[p] += at.l2[members_[p]] + damping * (to[p] + top);
    }
    for (std::size_t p = s; p < s + spare; ++p) matrix_.row(p)[p] = 1;  // for those that may come
    progress.work(static_cast<double>(s * s));
    if (!factorise(matrix_, progress)) continue;
    if (damping == 0) factored_ = members_;
    return true;
  }
  return false;
}

/// Newton's direction on the members, without those at an end that it would take beyond it: their own slope leads back, the others'
/// change outweighs that, and no step would be possible.
bool FaceSteps::point(const L1Coordinates& at, const double* h, std::size_t stride, const Progress& progress) {
  const auto blocked = [&](std::size_t p) {
    const std::size_t j = members_[p];
    return at.z[j] == (direction_[p] > 0 ? high(at, j) : low(at, j)) && direction_[p] != 0;
  };
  for (;;) {
    if (members_.empty() || !factor(at, h, stride, progress)) return false;
    const std::size_t s = members_.size();
    direction_.resize(s);
    for (std::size_t p = 0; p < s; ++p) direction_[p] = -slope_at(at, members_[p]);
    solve_factored(matrix_, s, direction_.data(), &progress);
    std::size_t kept = 0;
    for (std::size_t p = 0; p < s; ++p)
      if (!blocked(p)) members_[kept++] = members_[p];
    if (kept == s) return true;
    members_.resize(kept);
  }
}

bool FaceSteps::step(L1Coordinates& at, const double* h, std::size_t stride, const Progress& progress) {
  members_.clear();
  for (std::size_t j = 0; j < at.size(); ++j)
    if (moves(at, j)) members_.push_back(j);
  if (!point(at, h, stride, progress)) return false;
  const std::size_t s = members_.size();
  double t = 1, stop = 0;
  std::size_t stopped = s;
  for (std::size_t p = 0; p < s; ++p) {
    const std::size_t j = members_[p];
    if (!std::isfinite(direction_[p])) return false;
    double end = direction_[p] > 0 ? high(at, j) : low(at, j);
    if (at.l1[j] > 0 && at.z[j] * direction_[p] < 0 && end * direction_[p] > 0) end = 0;
    const double border = direction_[p] == 0 ? infinity : (end - at.z[j]) / direction_[p];
    if (border < t) {
      t = border;
      stopped = p;
      stop = end;
    }
  }
  for (std::size_t p = 0; p < s; ++p) {
    const std::size_t j = members_[p];
    const double to = p == stopped ? stop : std::clamp(at.z[j] + t * direction_[p], low(at, j), high(at, j)),
                 change = to - at.z[j];
    at.z[j] = to;
    if (change != 0) simd().axpy_d(change, h + j * stride, at.g.data(), at.size());
  }
  progress.work(static_cast<double>(s * at.size()) / 4);
  return stopped < s;
}

void solve_with_matrix(L1Coordinates& at, const double* h, std::size_t stride, double enough, FaceSteps& face,
                       const Progress& progress) {
  const std::size_t m = at.size();
  // A step on a face costs as much as that many rounds, about. Descent alone may crawl, so that a small decrease proves
  // nothing unless it follows one.
  const std::size_t wait = 2 + m / 96;
  std::size_t since = 0;
  for (int k = 0; k < 20 && face.step(at, h, stride, progress); ++k) {
  }
  bool faced = false;
  for (int round = 0; round < most_rounds; ++round) {
    double decrease = 0;
    std::size_t moved = 0;
    for (std::size_t j = 0; j < m; ++j) {
      const double curvature = h[j * stride + j], to = minimum(at, j, curvature, at.g[j]), change = to - at.z[j];
      if (change == 0) continue;
      decrease += change * change * (curvature + at.l2[j]);
      at.z[j] = to;
      simd().axpy_d(change, h + j * stride, at.g.data(), m);
      ++moved;
    }
    progress.work(static_cast<double>(moved * m) / 4 + 4.0 * static_cast<double>(m));
    if (!(decrease > enough) && faced) return;
    faced = false;
    if (decrease > enough && ++since < wait) continue;
    since = 0;
    for (int k = 0; k < 20 && face.step(at, h, stride, progress); ++k) {
    }
    faced = true;
  }
}

void solve_with_matrix(L1Coordinates& at, const double* h, std::size_t stride, double enough,
                       const Progress& progress) {
  FaceSteps face;
  solve_with_matrix(at, h, stride, enough, face, progress);
}

void solve_with_columns(L1Coordinates& at, const std::vector<Row>& columns, const std::vector<double>& h,
                        double constant, double enough, const Progress& progress) {
  const std::size_t m = at.size(), n = h.size();
  std::vector<double> curvature(m), s(n, 0.0);  // s_i = h_i <x_i, z − w>
  double all = 0;
  for (const double v : h) all += v;
  const auto of_constant = [&](std::size_t j) { return columns[j].values == nullptr; };
  for (std::size_t j = 0; j < m; ++j) {
    const Row& x = columns[j];
    if (of_constant(j)) {
      curvature[j] = constant * constant * all;
      continue;
    }
    for (std::int32_t k = 0; k < x.count; ++k) {
      const double v = x.value(k);
      curvature[j] += v * v * h[static_cast<std::size_t>(x.indices != nullptr ? x.indices[k] : k)];
    }
    progress.work(2.0 * x.count);
  }
  // Rounds over all coordinates now and then, over those that are not 0 in between.
  bool whole = true;
  for (int round = 0; round < most_rounds; ++round) {
    double decrease = 0;
    for (std::size_t j = 0; j < m; ++j) {
      if (!whole && at.z[j] == 0 && at.l1[j] > 0) continue;
      const Row& x = columns[j];
      double g = at.g[j];
      if (of_constant(j)) {
        double sum = 0;
        for (const double v : s) sum += v;
        g += constant * sum;
      } else {
        g += dot(x, s.data());
      }
      const double to = minimum(at, j, curvature[j], g), change = to - at.z[j];
      progress.work(x.count);
      if (change == 0) continue;
      decrease += change * change * (curvature[j] + at.l2[j]);
      at.z[j] = to;
      if (of_constant(j)) {
        for (std::size_t i = 0; i < n; ++i) s[i] += change * constant * h[i];
        progress.work(2.0 * static_cast<double>(n));
      } else if (x.indices != nullptr) {
        for (std::int32_t k = 0; k < x.count; ++k) {
          const auto i = static_cast<std::size_t>(x.indices[k]);
          s[i] += change * x.value(k) * h[i];
        }
        progress.work(x.count);
      } else {
        for (std::size_t i = 0; i < n; ++i) s[i] += change * x.value(static_cast<std::int32_t>(i)) * h[i];
        progress.work(2.0 * x.count);
      }
    }
    if (decrease > enough) {
      whole = false;
      continue;
    }
    if (whole) return;
    whole = true;
  }
}

}  // namespace margin
