#include "core/solvers/sdca/state.hpp"

#include <cmath>

#include "core/base/polled.hpp"
#include "core/math/box_term.hpp"
#include "core/solvers/free_intercept.hpp"
#include "core/solvers/run.hpp"

namespace margin {

SdcaState::SdcaState(const Problem& p, Run& run)
    : problem(p),
      convexity(p.lambda * (1 - p.l1_ratio)),
      threshold(p.l1_ratio / (1 - p.l1_ratio)),
      stretches(p.data, run),
      run_(run),
      kernels_(simd()),
      cut_sums_(cut_sums_of(kernels_)),
      bounded_(!p.bounds.empty()) {
  for (std::size_t j = 0; bounded_ && j < static_cast<std::size_t>(p.dimensions()); ++j) {
    low_.push_back(p.bounds.least(j));
    high_.push_back(p.bounds.most(j));
  }
  polled_assign(rows, static_cast<std::size_t>(p.rows()), Coordinate(), run.progress());
  for (std::int64_t i = 0; i < p.rows(); ++i) {
    Coordinate& row = rows[static_cast<std::size_t>(i)];
    row.x = p.data.row(i);
    row.scale = p.weight(i) / (convexity * p.total_weight);
    row.s = row.scale * squared_norm(row.x);
    run.work(row.x.count + 32.0);
  }
  if (!p.intercept) return;
  scale_squared_ = p.free_intercept ? own_scale_squared() : p.intercept_scale * p.intercept_scale;
  for (Coordinate& row : rows) row.s += row.scale * scale_squared_;
  run.work(8.0 * static_cast<double>(p.rows()));
}

// B² of a free intercept: the larger, the fewer proximal steps, and the smaller the steps of the coordinates. A share of
// the rows' squares costs little of the latter, and so does what makes s a share of the distance that a score has to move
// when a goes from one end of its domain to the other. Of 0.03 to 1, these took the fewest epochs on small problems of
// all shapes, and on 20,000 rows about those of a penalised intercept.
double SdcaState::own_scale_squared() const {
  constexpr double share = 0.2, distance_share = 0.1;
  double squares = 0, size = 0, all = 0;
  for (std::int64_t i = 0; i < problem.rows(); ++i) {
    squares += rows[static_cast<std::size_t>(i)].s;
    all += rows[static_cast<std::size_t>(i)].scale;
    size += rows[static_cast<std::size_t>(i)].scale * std::fabs(problem.target(i, 0));
  }
  run_.work(8.0 * static_cast<double>(problem.rows()));
  const double smooth = problem.smoothness();
  const double distance = smooth > 0 ? smooth : size > 0 ? size / all : 1.0;
  return share * squares / all + distance_share * distance * convexity * problem.total_weight;
}

void SdcaState::start_output(std::int32_t o) {
  weights.assign(static_cast<std::size_t>(problem.dimensions()), 0.0);
  z.assign(threshold > 0 ? weights.size() : 0, 0.0);
  keep_bounds();
  intercept = centre = 0;
  movable.clear();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Coordinate& row = rows[i];
    row.y = problem.target(static_cast<std::int64_t>(i), o);
    row.a = 0;
    run_.work(16);
    if (!(row.scale > 0)) continue;  // weight 0: a is of no consequence
    if (row.s > 0 || max_abs(row.x) > 0)
      movable.push_back(static_cast<std::int32_t>(i));
    else
      row.a = problem.loss->dual_step(0, row.y, 0, 0);
  }
}

void SdcaState::set_duals(const std::vector<double>& a) {
  for (const std::int32_t i : movable) {
    Coordinate& row = rows[static_cast<std::size_t>(i)];
    const double value = a[static_cast<std::size_t>(i)];
    row.a = std::isfinite(value) ? problem.loss->project(value, row.y) : 0.0;
  }
}

void SdcaState::store(std::int32_t o, Solution& solution) const {
  for (std::size_t j = 0; j < weights.size(); ++j) solution.weights(o, static_cast<Eigen::Index>(j)) = weights[j];
  solution.intercept[o] = intercept;
  Balance share;
  if (free_intercept()) {
    double above = 0, below = 0;
    for (const Coordinate& row : rows) (row.a > 0 ? above : below) += row.scale * std::fabs(row.a);
    share = Balance::of(above, below);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    solution.dual(static_cast<Eigen::Index>(i), o) = share(rows[i].a);
    run_.work(problem.outputs() > 8 ? 32 : 4);  // a line of the cache each
  }
}

void SdcaState::refresh_weights() {
  weights.assign(weights.size(), 0.0);
  intercept = centre;
  for (const Coordinate& row : rows) {
    if (row.a == 0) continue;
    add(row.scale * row.a, row.x, weights.data());
    intercept += row.scale * row.a * scale_squared_;
    run_.work(row.x.count + 16.0);
  }
  if (z.empty()) return keep_bounds();
  z = weights;
  for (std::size_t j = 0; j < weights.size(); ++j) weights[j] = weight_of(j);
}

void SdcaState::keep_bounds() {
  if (!bounded_) return;
  bool inside = z.empty();
  for (std::size_t j = 0; inside && j < weights.size(); ++j) inside = weights[j] >= low_[j] && weights[j] <= high_[j];
  if (inside) return;
  if (z.empty()) z = weights;
  for (std::size_t j = 0; j < weights.size(); ++j) weights[j] = weight_of(j);
}

void SdcaState::add_thresholded(const Row& x, double t) {
  for (std::int32_t k = 0; k < x.count; ++k) {
    const auto j = static_cast<std::size_t>(x.indices != nullptr ? x.indices[k] : k);
    z[j] += t * x.value(k);
    weights[j] = weight_of(j);
  }
}

/// Between bounds alone.
void SdcaState::add_cut(const Row& x, double t) {
  const auto n = static_cast<std::size_t>(x.count);
  const double *const low = low_.data(), *const high = high_.data();
  double *const v = z.data(), *const w = weights.data();
  if (x.indices == nullptr) {
    if (x.wide)
      cut_sums_.add_d(t, x.doubles(), n, low, high, v, w);
    else
      cut_sums_.add_f(t, x.floats(), n, low, high, v, w);
    return;
  }
  const auto add_at = [&](const auto* values) {
    for (std::size_t k = 0; k < n; ++k) {
      const std::int32_t j = x.indices[k];
      const double to = v[j] + t * static_cast<double>(values[k]);
      v[j] = to;
      w[j] = std::min(std::max(to, low[j]), high[j]);
    }
  };
  if (x.wide)
    add_at(x.doubles());
  else
    add_at(x.floats());
}

double SdcaState::squares() const {
  const double feature = scale_squared_ > 0 && !free_intercept() ? intercept * intercept / scale_squared_ : 0.0;
  return kernels_.dot_dd(weights.data(), weights.data(), weights.size()) + feature;
}

double SdcaState::penalty() const {
  double absolute = 0;
  if (threshold > 0)
    for (const double w : weights) absolute += std::fabs(w);
  return convexity / 2 * squares() + problem.lambda * problem.l1_ratio * absolute;
}

double SdcaState::conjugate_penalty() const {
  if (!bounded_ || z.empty()) return convexity / 2 * squares();
  double sum = scale_squared_ > 0 && !free_intercept() ? intercept * intercept / scale_squared_ / 2 : 0.0;
  for (std::size_t j = 0; j < z.size(); ++j)
    sum -= box_value(z[j], 1, threshold, problem.bounds.least(j), problem.bounds.most(j));
  return convexity * sum;
}

}  // namespace margin
