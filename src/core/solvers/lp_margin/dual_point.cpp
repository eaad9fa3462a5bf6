#include "core/solvers/lp_margin/dual_point.hpp"

#include <algorithm>
#include <cmath>

#include "core/math/duality_map.hpp"
#include "core/math/norm.hpp"
#include "core/solvers/run.hpp"

namespace margin {

namespace {
// Σ|u/τ|^r stays within these, so that no power overflows and no large one is lost.
constexpr double least_sum = 1e-60, largest_sum = 1e60;
constexpr int most_newton_steps = 30;
// The exact step along a direction is about 1/‖z‖²: below this length it would leave the range of doubles, so that such
// a direction counts as 0.
constexpr double least_length = 1e-100;
}  // namespace

LpAscent::LpAscent(const Problem& problem, double scale, bool constant)
    : problem_(problem),
      scale_(scale),
      r_(margin::dual_exponent(problem.norm)),
      constant_(constant),
      u_(Eigen::VectorXd::Zero(problem.dimensions() + (constant ? 1 : 0))),
      w_(u_),
      lengths_(static_cast<std::size_t>(problem.rows()), -1.0) {}

void LpAscent::set(const Eigen::VectorXd& u) {
  u_ = u;
  refresh();
}

void LpAscent::reset(const Eigen::VectorXd& alpha, Run& run) {
  u_.setZero();
  for (std::int64_t i = 0; i < problem_.rows(); ++i) {
    if (alpha(i) == 0) continue;
    const double a = alpha(i) * problem_.sign(i);
    margin::add(scale_ * a, problem_.data.row(i), u_.data());
    if (constant_) u_(u_.size() - 1) += a;
    run.work(problem_.data.row(i).count);
  }
  refresh();
}

void LpAscent::refresh() {
  const double top = u_.cwiseAbs().maxCoeff();
  unit_ = top > 0 ? top : 1;
  powers(u_.data(), u_.size(), 1 / unit_, r_ - 2, w_.data());
  w_.array() *= u_.array() / unit_;
  sum_ = w_.dot(u_) / unit_;
}

void LpAscent::load(std::int64_t i, LpDirection& out) {
  const Row x = problem_.data.row(i);
  const double factor = scale_ * problem_.sign(i);
  out.indices.assign(x.indices, x.indices + (x.indices != nullptr ? x.count : 0));
  out.values.resize(static_cast<std::size_t>(x.count));
  for (std::int32_t k = 0; k < x.count; ++k) out.values[static_cast<std::size_t>(k)] = factor * x.value(k);
  if (constant_) {
    if (x.indices != nullptr) out.indices.push_back(problem_.dimensions());
    out.values.push_back(problem_.sign(i));
  }
  double& length = lengths_[static_cast<std::size_t>(i)];
  if (length < 0) length = lp_norm(out.values.data(), static_cast<Eigen::Index>(out.values.size()), r_);
  out.length = length > least_length ? length : 0;
}

void LpAscent::load_pair(std::int64_t i, std::int64_t j, LpDirection& out) {
  load(i, out);
  load(j, other_);
  const double length = out.length + other_.length;
  if (out.indices.empty() != other_.indices.empty() || !out.indices.empty()) {
    // A sparse row among the two: the sum as a dense vector is simple, and differences of rows are rarely sparse.
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(u_.size());
    for (const LpDirection* z : {&out, &other_})
      for (std::size_t k = 0; k < z->values.size(); ++k)
        sum(z->indices.empty() ? static_cast<Eigen::Index>(k) : z->indices[k]) += z->values[k];
    out.indices.clear();
    out.values.assign(sum.data(), sum.data() + sum.size());
  } else {
    for (std::size_t k = 0; k < out.values.size(); ++k) out.values[k] += other_.values[k];
  }
  out.length = length;
}

double LpAscent::product(const LpDirection& z) const {
  if (!(sum_ > 0)) return 0;
  const std::size_t n = z.values.size();
  const double product = z.indices.empty() ? simd().dot_dd(z.values.data(), w_.data(), n)
                                           : simd().sparse_dot_d(z.values.data(), z.indices.data(), w_.data(), n);
  return unit_ * std::pow(sum_, (2 - r_) / r_) * product;
}

double LpAscent::gather(const LpDirection& z) {
  const auto n = static_cast<Eigen::Index>(z.values.size());
  entries_.resize(n);
  power_.resize(n);
  double here = 0;
  for (Eigen::Index k = 0; k < n; ++k) {
    const Eigen::Index j = z.indices.empty() ? k : z.indices[static_cast<std::size_t>(k)];
    entries_(k) = u_(j) / unit_;
    here += w_(j) * entries_(k);
  }
  return n == u_.size() ? 0.0 : std::max(0.0, sum_ - here);
}

/// <θ(u + δ z), z> and its derivative in δ, from the entries that gather() has left.
LpAscent::Line LpAscent::at(const LpDirection& z, double delta, double rest) {
  const auto n = static_cast<Eigen::Index>(z.values.size());
  const Eigen::Map<const Eigen::VectorXd> values(z.values.data(), n);
  trial_ = entries_ + (delta / unit_) * values;
  powers(trial_.data(), n, 1.0, r_ - 2, power_.data());
  const double sum = rest + (power_.array() * trial_.array().square()).sum();
  if (!(sum > 0)) return {0, r_ == 2 ? values.squaredNorm() : 0};
  const double first = (power_.array() * trial_.array() * values.array()).sum();
  const double second = (power_.array() * values.array().square()).sum();
  const double factor = std::pow(sum, (2 - r_) / r_);
  return {unit_ * factor * first, factor * ((r_ - 1) * second - (r_ - 2) * first * first / sum)};
}

double LpAscent::line_maximum(const LpDirection& z, double c) {
  if (!(z.length > 0)) return 0;
  if (r_ == 2 || !(sum_ > 0)) {
    // c δ − δ<u, z> − ½δ²‖z‖²: exact at u = 0 for every norm, because there ‖u + δz‖ = |δ| ‖z‖.
    const auto n = static_cast<Eigen::Index>(z.values.size());
    const double length = lp_norm(z.values.data(), n, r_);
    return length > least_length ? (c - product(z)) / length / length : 0.0;
  }
  const double rest = gather(z), start = c - product(z);
  if (start == 0) return 0;
  double near = 0, delta = start / ((r_ - 1) * z.length * z.length);  // Lemma 1: the maximum is not before this
  double far = std::copysign(std::numeric_limits<double>::infinity(), delta);
  for (int step = 0; step < most_newton_steps; ++step) {
    const Line line = at(z, delta, rest);
    const double residual = c - line.product;
    if (!std::isfinite(residual)) return near;
    if (std::fabs(residual) <= 1e-10 * c) break;
    ((residual > 0) == (start > 0) ? near : far) = delta;
    double next = line.slope > 0 ? delta + residual / line.slope : far;
    const double low = std::min(near, far), high = std::max(near, far);
    if (!(next > low && next < high)) next = std::isfinite(far) ? 0.5 * (near + far) : 4 * near;
    if (next == delta) break;
    delta = next;
  }
  return delta;
}

double LpAscent::bound_maximum(const LpDirection& z, double c) const {
  return z.length > 0 ? (c - product(z)) / ((r_ - 1) * z.length * z.length) : 0;
}

void LpAscent::move(const LpDirection& z, double delta) {
  if (delta == 0) return;
  const double rest = gather(z);
  const Line line = at(z, delta, rest);
  const auto n = static_cast<Eigen::Index>(z.values.size());
  double sum = rest;
  for (Eigen::Index k = 0; k < n; ++k) {
    const Eigen::Index j = z.indices.empty() ? k : z.indices[static_cast<std::size_t>(k)];
    u_(j) += delta * z.values[static_cast<std::size_t>(k)];
    w_(j) = power_(k) * trial_(k);
    sum += w_(j) * trial_(k);
  }
  // A sum that is much less than what was taken from it has lost its digits; one far from 1 needs another unit.
  const bool lost = n != u_.size() && sum < 1e-6 * sum_;
  sum_ = sum;
  if (lost || !(sum_ > least_sum && sum_ < largest_sum) || !std::isfinite(line.product)) refresh();
}

}  // namespace margin
