#include "core/certificate/left_out.hpp"

#include <algorithm>
#include <cmath>

#include "core/loss/loss.hpp"
#include "core/math/norm.hpp"
#include "core/math/rounding.hpp"

namespace margin {

namespace {

constexpr std::size_t most_band = 1024;  // rows of an ascent
constexpr int most_epochs = 40;

}  // namespace

LeftOut::LeftOut(const Problem& problem, std::int32_t output, const double* weights, double intercept,
                 const Weights& dual, double gap, const Progress& progress)
    : p_(problem),
      output_(output),
      dual_(dual),
      progress_(progress),
      constant_(!problem.intercept       ? 0.0
                : problem.free_intercept ? 1.0
                                         : problem.intercept_scale),
      gap_(gap),
      unit_(1 / (problem.lambda * problem.total_weight)),
      ball_(!problem.free_intercept) {
  const auto d = static_cast<std::size_t>(p_.dimensions()), n = d + (constant_ != 0 ? 1 : 0);
  w_.assign(weights, weights + d);
  v_.assign(n, 0.0);
  if (constant_ != 0) w_.push_back(intercept / constant_);
  gradient_.assign(n, 0.0);
  const Loss& loss = *p_.loss;
  double mass = 0;
  std::vector<std::pair<double, std::int64_t>> near;
  for (std::int64_t i = 0; i < p_.rows(); ++i) {
    const double c = p_.weight(i), y = p_.target(i, output_);
    if (!(c > 0)) continue;
    const Row x = p_.data.row(i);
    const double u = product(x, w_), a = loss.project(dual_(i, output_), y);
    add(c * a * unit_, x, v_);
    add(c * loss.derivative(u, y) / p_.total_weight, x, gradient_);
    mass += c * std::fabs(a) * unit_ * std::sqrt(squared_length(x));
    if (!loss.smooth()) near.emplace_back(std::fabs(loss.slack(u, y, -loss.derivative(u, y))), i);
    progress_.work(8.0 * x.count + 64);
  }
  for (std::size_t j = 0; j < n; ++j) {
    if (j < d || ball_) gradient_[j] += p_.lambda * w_[j];
    apart_ += (w_[j] - v_[j]) * (w_[j] - v_[j]);
  }
  error_ = epsilon * (static_cast<double>(p_.rows()) + 16) * mass;
  size_ = lp_norm(w_.data(), static_cast<Eigen::Index>(n), 2) + lp_norm(v_.data(), static_cast<Eigen::Index>(n), 2);
  if (loss.smooth() || !ball_) return;
  const std::size_t most = std::min(near.size(), std::min(most_band, 2 * n + 32));
  std::nth_element(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(most), near.end());
  near.resize(most);
  std::sort(near.begin(), near.end());
  for (const auto& [distance, i] : near) {
    band_.push_back(i);
    band_length_.push_back(squared_length(p_.data.row(i)));
  }
}

double LeftOut::squared_length(const Row& x) const { return squared_norm(x) + constant_ * constant_; }

double LeftOut::product(const Row& x, const std::vector<double>& v) const {
  return dot(x, v.data()) + (constant_ != 0 ? constant_ * v.back() : 0.0);
}

void LeftOut::add(double c, const Row& x, std::vector<double>& v) const {
  if (c == 0) return;
  margin::add(c, x, v.data());
  if (constant_ != 0) v.back() += c * constant_;
}

LeftOut::At LeftOut::at(std::int64_t i) const {
  const Loss& loss = *p_.loss;
  At r;
  r.row = i;
  r.x = p_.data.row(i);
  r.c = p_.weight(i);
  r.y = p_.target(i, output_);
  r.a = r.c > 0 ? loss.project(dual_(i, output_), r.y) : 0.0;
  r.u = product(r.x, w_);
  r.s = product(r.x, v_);
  r.square = squared_length(r.x);
  r.length = std::sqrt(r.square);
  r.k = r.c * r.a * unit_;
  r.rounding = epsilon * (r.x.count + 16.0) * r.length * (size_ + std::fabs(r.k) * r.length) + r.length * error_;
  const double value = loss.value(r.u, r.y), conjugate = r.a == 0 ? 0.0 : loss.conjugate(r.a, r.y);
  const double own = r.c * (value + conjugate) / p_.total_weight, pull = p_.lambda * r.k * r.s,
               square = p_.lambda / 2 * r.k * r.k * r.square;
  r.gap = gap_ - own - pull + square;
  // Rounding, also of the scores, which the loss carries on with a slope of its own.
  const double slope = r.c / p_.total_weight * (std::fabs(r.a) + loss.steepest(r.u, r.y, r.rounding));
  r.gap += slope * r.rounding + 16 * epsilon *
                                    (gap_ + r.c / p_.total_weight * (value + loss.conjugate_size(r.a, r.y, conjugate)) +
                                     std::fabs(pull) + square);
  r.gap = std::max(r.gap, 0.0);
  return r;
}

namespace {

/// The scores of a ball around `centre` of a gap, between whose two points is `apart` (squared).
ScoreInterval ball(double centre, double gap, double lambda, double apart, double size, double length,
                   double rounding) {
  const double square = gap / lambda, left = square - apart / 4 + 1e-12 * (square + size);
  const double radius = left > 0 ? std::sqrt(left) : 0.0;
  const double reach = radius * length * (1 + 1e-12) + 2 * rounding;
  return {centre - reach, centre + reach};
}

}  // namespace

ScoreInterval LeftOut::in_ball(const At& r) const {
  const double apart = apart_ + 2 * r.k * (r.u - r.s) + r.k * r.k * r.square;
  // v errs by error_: so does the distance of the two points.
  const double off =
      2 * error_ * std::sqrt(std::max(apart, 0.0)) + 8 * epsilon * size_ * size_ + 4 * std::fabs(r.k) * r.rounding;
  return ball((r.u + r.s - r.k * r.square) / 2, r.gap, p_.lambda, std::max(0.0, apart - off), 0, r.length, r.rounding);
}

/// Rows on a kink, whose dual values are free to move either way, and the inverse of their inner products: what takes the
/// place of a row, but for the ends of their domains.
void LeftOut::make_free_rows() {
  tried_free_rows_ = true;
  const Loss& loss = *p_.loss;
  for (std::size_t b = 0; b < band_.size(); ++b) {
    const double y = p_.target(band_[b], output_), a = loss.project(dual_(band_[b], output_), y);
    if (loss.project(a * (1 + 1e-3), y) != loss.project(a, y) && loss.project(a * (1 - 1e-3), y) != loss.project(a, y))
      free_.push_back(b);
  }
  const std::size_t m = free_.size();
  if (m == 0) return;
  SymmetricMatrix products(m);
  std::vector<double> row(v_.size());
  double largest = 0;
  for (std::size_t j = 0; j < m; ++j) {
    std::fill(row.begin(), row.end(), 0.0);
    add(1, p_.data.row(band_[free_[j]]), row);
    for (std::size_t i = j; i < m; ++i) products.row(j)[i] = product(p_.data.row(band_[free_[i]]), row);
    largest = std::max(largest, products.row(j)[j]);
    progress_.work(static_cast<double>(row.size() + 32 * m));
  }
  for (std::size_t j = 0; j < m; ++j) products.row(j)[j] += 1e-6 * largest;
  if (!factorise(products, progress_)) {
    free_.clear();
    return;
  }
  free_inverse_.assign(m * m, 0.0);
  for (std::size_t j = 0; j < m; ++j) {
    free_inverse_[j * m + j] = 1;
    solve_factored(products, free_inverse_.data() + j * m, &progress_);
  }
}

void LeftOut::ascend(const At& r, double wanted, ScoreInterval& found) {
  if (!tried_free_rows_) make_free_rows();
  const Loss& loss = *p_.loss;
  const std::size_t n = v_.size(), m = free_.size();
  moved_ = v_;
  add(-r.k, r.x, moved_);
  std::vector<double> a(band_.size());
  for (std::size_t b = 0; b < band_.size(); ++b)
    a[b] = loss.project(dual_(band_[b], output_), p_.target(band_[b], output_));
  double gained = 0, sizes = 0, before = 0, moves = 0;
  const auto move = [&](std::size_t b, double u, double now) {
    const std::int64_t j = band_[b];
    const double c = p_.weight(j), y = p_.target(j, output_), scale = c * unit_ * band_length_[b], step = now - a[b];
    if (step == 0 || !std::isfinite(step)) return 0.0;
    const double old_value = a[b] == 0 ? 0 : loss.conjugate(a[b], y), new_value = now == 0 ? 0 : loss.conjugate(now, y);
    gained += c / p_.total_weight * (old_value - new_value - step * u - step * step * scale / 2);
    sizes +=
        c / p_.total_weight * (std::fabs(old_value) + std::fabs(new_value) + std::fabs(step * u) + step * step * scale);
    add(c * unit_ * step, p_.data.row(j), moved_);
    a[b] = now;
    ++moves;
    return std::fabs(step);
  };
  const auto measure = [&] {
    double apart = 0;
    for (std::size_t j = 0; j < n; ++j) apart += (w_[j] - moved_[j]) * (w_[j] - moved_[j]);
    progress_.work(static_cast<double>(n));
    // The vector has rounded sums of as many steps.
    const double steps = epsilon * (moves + 16) * (size_ + std::fabs(r.k) * r.length + std::sqrt(apart));
    const double distance = std::max(0.0, std::sqrt(apart) - steps - 2 * error_);
    const double gap =
        std::max(0.0, r.gap - gained + 64 * epsilon * sizes + 2 * (steps + error_) * std::sqrt(apart) * p_.lambda);
    const ScoreInterval own = ball((r.u + product(r.x, moved_)) / 2, gap, p_.lambda, distance * distance, 0, r.length,
                                   r.rounding + r.length * steps);
    found.narrow(own.lower, own.upper);
    return gap;
  };
  if (m > 0) {  // what would take the place of the row if the domains had no ends
    std::vector<double> row(n, 0.0), products(m);
    add(r.k, r.x, row);
    for (std::size_t j = 0; j < m; ++j) products[j] = product(p_.data.row(band_[free_[j]]), row);
    for (std::size_t j = 0; j < m; ++j) {
      const std::int64_t at = band_[free_[j]];
      if (at == r.row) continue;
      const double share = simd().dot_dd(free_inverse_.data() + j * m, products.data(), m), c = p_.weight(at) * unit_;
      const double now = loss.project(a[free_[j]] + share / c, p_.target(at, output_));
      move(free_[j], product(p_.data.row(at), moved_), now);
    }
    progress_.work(static_cast<double>(m * m + 32 * m + n));
    measure();
    if (!found.open(wanted)) return;
  }
  for (int epoch = 1; epoch <= most_epochs; ++epoch) {
    double changes = 0;
    for (std::size_t b = 0; b < band_.size(); ++b) {
      const std::int64_t j = band_[b];
      if (j == r.row) continue;
      const double y = p_.target(j, output_), u = product(p_.data.row(j), moved_);
      changes += move(b, u, loss.project(loss.dual_step(u, y, a[b], p_.weight(j) * unit_ * band_length_[b]), y));
      progress_.work(2.0 * p_.data.row(j).count + 24);
    }
    if (epoch % 2 != 0 && changes > 0) continue;
    const double gap = measure();
    if (!found.open(wanted) || changes == 0 || gained - before < 1e-3 * gap) return;
    before = gained;
  }
}

ScoreInterval LeftOut::score(std::int64_t i, double wanted) {
  const At r = at(i);
  ScoreInterval found{-infinity, infinity};
  if (ball_) {
    const ScoreInterval own = in_ball(r);
    found.narrow(own.lower, own.upper);
    if (!found.open(wanted)) return found;
  }
  if (p_.loss->smooth())
    bend(r, wanted, found);
  else if (ball_ && !band_.empty())
    ascend(r, wanted, found);
  return found;
}

double LeftOut::distance(std::int64_t i) const {
  const At r = at(i);
  // Both optima are in their balls: around (w + v)/2, and around that less δ/2.
  const double whole = std::sqrt(std::max(0.0, gap_ / p_.lambda - apart_ / 4)), without = std::sqrt(r.gap / p_.lambda);
  return (std::fabs(r.k) * r.length / 2 + whole + without) * (1 + 1e-12) + error_;
}

}  // namespace margin
