#include "core/consequences/left_out/left_out.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/certificate/column_sizes.hpp"
#include "core/loss/loss.hpp"
#include "core/math/norm.hpp"
#include "core/math/rounding.hpp"

namespace margin {

namespace {

constexpr int most_guesses = 6;  // of an exchange

/// The share of k by which the rows of an exchange take over more than all of a_i. Of the balls of all dual points the one of
/// the best end is wanted, not the smallest. Where no row comes to the kink or leaves it, those there replace all of x but
/// a rest r, and the optimum's score is u − k‖r‖²: with a share of 0 the ball ends at about u − k(‖r‖² + ‖r‖‖x‖)/2, with one
/// of 1 just there. Less brings fewer rows to the ends of their domains.
constexpr double overshoot = 0.3;

double norm_of(const std::vector<double>& v) { return lp_norm(v.data(), static_cast<Eigen::Index>(v.size()), 2); }

/// Of a bound from sums that may have left the range of doubles.
double known(double v) { return std::isnan(v) ? infinity : std::max(0.0, v); }

/// ≥ the radius of a ball of a gap, between whose two points is `apart` or more.
double radius_of(double gap, double lambda, double apart) {
  const double square = gap / lambda + 2 * tiny / lambda + 2 * tiny, between = apart / 2 * (apart / 2);
  return std::sqrt(known(square - (between < infinity ? between : 0.0) + 1e-12 * square)) * (1 + 8 * epsilon);
}

/// The scores of a ball around `centre`.
ScoreInterval ball(double centre, double radius, double length, double rounding) {
  const double reach = radius * length * (1 + 1e-12) + 2 * rounding;
  return {centre - reach, centre + reach};
}

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
  const double size = norm_of(w_), terms = static_cast<double>(p_.rows()) + 16;
  double mass = 0, longest = 0, slopes = 0, lost = 0;
  if (loss.smooth()) {
    const ColumnSizes sizes(p_, constant_, progress_);
    gradient_error_ = sizes.roots();
    noise_ = sizes.noise(w_);
  }
  std::vector<std::pair<double, std::int64_t>> near;
  scores_.assign(static_cast<std::size_t>(p_.rows()), std::numeric_limits<double>::quiet_NaN());
  for (std::int64_t i = 0; i < p_.rows(); ++i) {
    const double c = p_.weight(i), y = p_.target(i, output_);
    if (!(c > 0)) continue;
    const Row x = p_.data.row(i);
    const double u = product(x, w_), a = loss.project(dual_(i, output_), y), slope = loss.derivative(u, y),
                 length = length_of(x);
    add(c * a * unit_, x, v_);
    add(c * slope / p_.total_weight, x, gradient_);
    mass += c * std::fabs(a) * unit_ * length;
    error_ += vanished(x, length);
    longest = std::max(longest, length);
    if (a == 0 && std::isfinite(u)) scores_[static_cast<std::size_t>(i)] = u;
    if (loss.smooth()) {
      // The score errs, which the slope carries on; so do the slope and the sums.
      const double off =
          (noise_ + 16 * epsilon * (std::fabs(u) + 1)) / loss.smoothness() + epsilon * terms * std::fabs(slope);
      slopes += c / p_.total_weight * off * off;
      lost += vanished(x, length);
    } else if (const double away = std::fabs(loss.slack(u, y, -slope)); std::isfinite(away)) {
      near.emplace_back(away, i);
    }
    progress_.work(8.0 * x.count + 64);
  }
  for (std::size_t j = 0; j < n; ++j)
    if (j < d || ball_) gradient_[j] += p_.lambda * w_[j];
  apart_ = apart_from(v_);
  error_ += epsilon * terms * mass;
  for (std::size_t j = 0; j < gradient_error_.size(); ++j)
    gradient_error_[j] = std::sqrt(slopes) * (1 + epsilon * terms) * gradient_error_[j] +
                         4 * epsilon * p_.lambda * std::fabs(w_[j]) + lost + tiny * static_cast<double>(n);
  size_ = size + norm_of(v_);
  // Without a row of a = 0 the gap is no larger than with it, and P − P* ≥ (λ/2)‖w − w*‖².
  const double most_terms = static_cast<double>(n) + 16;
  near_ = ball_ ? known((radius_of(2 * gap_, p_.lambda, 0) * (1 + 1e-12) + epsilon * most_terms * size_) * longest +
                        tiny * (most_terms + longest)) *
                      (1 + 1e-12)
                : infinity;
  if (loss.smooth() || !ball_) return;
  const std::size_t most = std::min(near.size(), Exchange::most_rows(n));
  std::nth_element(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(most), near.end());
  near.resize(most);
  std::sort(near.begin(), near.end());
  // Where fewer rows than there are columns are between their ends, fewer others can take their place.
  const auto between = std::count_if(near.begin(), near.end(), [&](const auto& row) {
    const double y = p_.target(row.second, output_), a = loss.project(dual_(row.second, output_), y);
    return loss.project(-infinity, y) < a && a < loss.project(infinity, y);
  });
  near.resize(std::min(near.size(), Exchange::most_rows(static_cast<std::size_t>(between))));
  for (const auto& [distance, i] : near) {
    const Row x = p_.data.row(i);
    const double c = p_.weight(i), y = p_.target(i, output_), a = loss.project(dual_(i, output_), y),
                 length = length_of(x);
    band_.push_back({i, y, loss.project(-infinity, y), loss.project(infinity, y), c / p_.total_weight, c * unit_, a,
                     a == 0 ? 0.0 : loss.conjugate(a, y), product(x, w_), length, (x.count + 16.0) * length * size_,
                     vanished(x, length)});
  }
}

/// ≥ ‖(x, B)‖, also where its square vanishes.
double LeftOut::length_of(const Row& x) const {
  return std::hypot(norm(x), constant_) * (1 + epsilon * (x.count + 8.0));
}

/// ≥ what v loses where the products c a/(λW) (x, B) of a row are too small for doubles; the same of c φ' (x, B)/W.
double LeftOut::vanished(const Row& x, double length) const {
  return tiny * ((unit_ + 1 / p_.total_weight + 1) * length + x.count + 4);
}

double LeftOut::apart_from(const std::vector<double>& v) const {
  std::vector<double> between(w_);
  for (std::size_t j = 0; j < v.size(); ++j) between[j] -= v[j];
  return norm_of(between);
}

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
  r.length = length_of(r.x);
  r.square = r.length * r.length;
  r.k = r.c * r.a * unit_;
  const double part = std::fabs(r.k) * r.length, terms = r.x.count + 16.0;
  r.rounding = epsilon * terms * r.length * (size_ + part) + r.length * error_ + tiny * (terms + r.length);
  const double value = loss.value(r.u, r.y), conjugate = r.a == 0 ? 0.0 : loss.conjugate(r.a, r.y);
  const double own = r.c * (value + conjugate) / p_.total_weight, pull = p_.lambda * r.k * r.s,
               square = p_.lambda / 2 * part * part;
  r.gap = gap_ - own - pull + square;
  r.own = own + r.c / p_.total_weight * r.a * r.u;
  // Rounding, also of the scores, which the loss carries on with a slope of its own.
  const double slope = r.c / p_.total_weight * (std::fabs(r.a) + loss.steepest(r.u, r.y, r.rounding));
  const double sizes = value + loss.conjugate_size(r.a, r.y, conjugate) + std::fabs(r.a * r.u);
  // What vanishes of a product is multiplied by what comes after it.
  const double lost =
      16 * tiny *
      ((1 / p_.total_weight + p_.lambda + 1) * (1 + std::fabs(r.s) + part * (r.length + 1)) + sizes + std::fabs(r.a));
  r.own_error = slope * r.rounding + 16 * epsilon * (gap_ + r.c / p_.total_weight * sizes) + lost;
  r.gap = known(r.gap + r.own_error + 16 * epsilon * std::fabs(pull) + epsilon * (2 * terms + 16) * square);
  return r;
}

ScoreInterval LeftOut::in_ball(const At& r) const {
  const double square = apart_ * apart_ + 2 * r.k * (r.u - r.s) + r.k * r.k * r.square;
  // v errs by error_: so does the distance of the two points.
  const double off =
      2 * error_ * std::sqrt(std::max(square, 0.0)) + 8 * epsilon * size_ * size_ + 4 * std::fabs(r.k) * r.rounding;
  const double apart = std::sqrt(std::max(0.0, square - off)) * (1 - 4 * epsilon);
  return ball((r.u + r.s - r.k * r.square) / 2, radius_of(r.gap, p_.lambda, apart), r.length, r.rounding);
}

void LeftOut::make_exchange() {
  std::vector<Exchange::Member> band;
  for (const Near& b : band_) band.push_back({b.row, b.scale * (b.low - b.dual), b.scale * (b.high - b.dual), b.y});
  exchange_ = std::make_unique<Exchange>(p_.data, constant_, std::move(band), v_, progress_);
}

/// By the dual point that the exchange has come to. The gap of w and a is Σ c (φ(u) + φ*(−a) + a u)/W + (λ/2)‖w − v‖²: it
/// changes by the terms of the rows that moved, by the one that is gone, and by the last one.
ScoreInterval LeftOut::in_exchanged(const At& r) {
  const Loss& loss = *p_.loss;
  const auto& moves = exchange_->moves();
  moved_ = v_;
  add(-r.k, r.x, moved_);
  double gap = gap_ - r.own + r.own_error, sizes = 0, lengths = size_ + std::fabs(r.k) * r.length,
         lost = vanished(r.x, r.length);
  for (const auto& [at, theta] : moves) {
    const Near& b = band_[at];
    const double now = std::clamp(b.dual + theta / b.scale, b.low, b.high), step = now - b.dual;
    if (step == 0) continue;
    const double after = now == 0 ? 0 : loss.conjugate(now, b.y);
    gap += b.share * (after - b.conjugate + step * b.score);
    // The score errs by a share of the sizes of both vectors.
    sizes +=
        b.share * (std::fabs(b.conjugate) + std::fabs(after) + std::fabs(step) * (std::fabs(b.score) + b.rounding));
    lengths += std::fabs(step) * b.scale * b.length;
    lost += b.lost;
    add(b.scale * step, p_.data.row(b.row), moved_);
  }
  progress_.work(static_cast<double>(moves.size()) * (static_cast<double>(v_.size()) + 32));
  // Both vectors have rounded sums, this one of as many more terms as rows moved.
  const double share = 4 * epsilon * (static_cast<double>(v_.size() + moves.size()) + 16),
               steps = share * lengths + lost, apart = apart_from(moved_), most = apart * (1 + share) + steps + error_,
               least = std::max(0.0, apart * (1 - share) - steps - error_),
               before = std::max(0.0, apart_ * (1 - share) - share * size_ - error_);
  gap += p_.lambda / 2 * most * most - p_.lambda / 2 * before * before +
         16 * epsilon * (sizes * static_cast<double>(moves.size() + 1) + gap_ + r.own) +
         16 * tiny * (sizes + (static_cast<double>(moves.size()) + 1) * (2 + 1 / p_.total_weight) + most);
  return ball((r.u + product(r.x, moved_)) / 2, radius_of(known(gap), p_.lambda, least), r.length,
              r.rounding + r.length * (steps + error_));
}

void LeftOut::exchange(const At& r, double wanted, ScoreInterval& found) {
  if (exchange_ == nullptr) make_exchange();
  exchange_->leave_out(r.row, r.k, overshoot * r.k);
  for (int guess = 1;; ++guess) {
    const bool last = !exchange_->improve() || guess == most_guesses;
    // A look at the interval that the guess would give; where all of it is wanted, the last guess gives it.
    const Exchange::Look look = exchange_->look();
    const bool open = std::fabs(r.u - look.fall / 2 - wanted) <= std::sqrt(std::max(0.0, look.square)) * r.length;
    if (open && last) return;
    if (!last && (open || std::isnan(wanted))) continue;
    const ScoreInterval own = in_exchanged(r);
    found.narrow(own.lower, own.upper);
    if (last || !found.open(wanted)) return;
  }
}

void LeftOut::make_kinks() {
  kinks_.emplace();
  const bool one_kink = p_.loss->classification() && p_.loss->kinks() == 1;  // flat, and from there on of one slope
  if (!one_kink || !InverseCurvature::affordable(p_, constant_)) return;
  // Any gap that is no less, and any m that is no more.
  constexpr double least_gap = 1e-16, steepest = 1e6;
  const double gap = std::max(gap_ * (1 + 1e-9), least_gap * p_.lambda);
  *kinks_ = InverseCurvature(
      p_, p_.lambda / (2 * gap), constant_, true,
      [&](std::int64_t i, const Row&) {
        const double c = p_.weight(i), y = p_.target(i, output_),
                     beta = std::fabs(p_.loss->project(dual_(i, output_), y)),
                     m = std::max(0.0, std::min(beta, p_.loss->lipschitz() - beta)) * c / p_.total_weight * (1 - 1e-9);
        const double h = std::min(m / gap, steepest);
        return c > 0 ? h * h / c * p_.total_weight : 0.0;
      },
      progress_);
}

void LeftOut::meet_kinks(const At& r, ScoreInterval& found) {
  if (!kinks_.has_value()) make_kinks();
  if (!kinks_->usable()) return;
  const double products = absolute_product(r.x, w_.data()) + std::fabs(constant_ * w_.back()), terms = r.x.count + 16.0,
               reach = std::sqrt(5 * kinks_->form(r.x, progress_) * kinks_->safe()) * (1 + 1e-9) +
                       terms * (epsilon * products + tiny);
  found.narrow(r.u - reach, r.u + reach);
}

ScoreInterval LeftOut::score(std::int64_t i, double wanted) {
  const double by_w = scores_[static_cast<std::size_t>(i)];
  if (std::fabs(by_w - wanted) > near_) return {by_w - near_, by_w + near_};
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
    exchange(r, wanted, found);
  if (!p_.loss->smooth() && ball_ && r.a == 0 && found.open(wanted)) meet_kinks(r, found);
  return found;
}

double LeftOut::distance(std::int64_t i) const {
  const At r = at(i);
  // Both optima are in their balls: around (w + v)/2, and around that less δ/2.
  const double whole = radius_of(gap_, p_.lambda, apart_), without = radius_of(r.gap, p_.lambda, 0);
  return (std::fabs(r.k) * r.length / 2 + whole + without) * (1 + 1e-12) + error_;
}

}  // namespace margin
