#include "core/solvers/l1_margin/rounds.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/base/polled.hpp"
#include "core/base/threads.hpp"
#include "core/math/rounding.hpp"

namespace margin {

namespace {

constexpr double cut_off = 40;      // a weight below e^-40 of the largest is 0: q stays in the simplex
constexpr double tail = 36;         // beyond this margin ln(1 + e^-m) is e^-m to the last digit
constexpr double largest_step = 8;  // where a learner errs nowhere: no finite minimiser, and e^-8 of the loss is left

double logistic_loss(double m) { return m > 0 ? std::log1p(std::exp(-m)) : std::log1p(std::exp(m)) - m; }
double logistic_slope(double m) { return m > 0 ? std::exp(-m) / (1 + std::exp(-m)) : 1 / (1 + std::exp(m)); }

/// Sums over all rows, on threads: row(i, sums) adds what row i has to say, at a cost of some exponentials. Stretches of
/// rows have sums of their own, which are added in order.
template <std::size_t count, class F>
std::array<double, count> sums_over(Eigen::Index n, const Progress& progress, F row) {
  constexpr double operations = 64;
  const Chunks stretches(n, operations);
  std::vector<std::array<double, count>> parts(stretches.count());
  progress.threads().run(stretches.count(), progress, [&](std::size_t k, const Progress& own) {
    std::array<double, count> sums{};
    const F mine = row;  // of which the loop knows that nobody changes it
    for (Eigen::Index i = stretches.begin(k), end = stretches.end(k); i < end; ++i) mine(i, sums);
    parts[k] = sums;
    own.work(operations / 2 * static_cast<double>(stretches.end(k) - stretches.begin(k)));
  });
  std::array<double, count> all = parts[0];
  for (std::size_t k = 1; k < parts.size(); ++k)
    for (std::size_t c = 0; c < count; ++c) all[c] += parts[k][c];
  return all;
}

/// Stretches of rows, of which each costs some multiply-adds.
Chunks stretches_of(Eigen::Index n) { return {n, 24}; }

/// stretch(begin, end) for all rows, on threads; each row has numbers of its own.
template <class F>
void each_stretch(Eigen::Index n, const Progress& progress, F stretch) {
  const Chunks stretches = stretches_of(n);
  progress.threads().run(stretches.count(), progress, [&](std::size_t k, const Progress& own) {
    const F mine = stretch;  // of which the loop knows that nobody changes it
    mine(stretches.begin(k), stretches.end(k));
    own.work(3.0 * static_cast<double>(stretches.end(k) - stretches.begin(k)));
  });
}

/// row(i) for all rows, in the same way.
template <class F>
void each_row(Eigen::Index n, const Progress& progress, F row) {
  each_stretch(n, progress, [row](Eigen::Index begin, Eigen::Index end) {
    const F mine = row;
    for (Eigen::Index i = begin; i < end; ++i) mine(i);
  });
}

}  // namespace

BoostingRounds::BoostingRounds(WeakLearners& learners, std::vector<double> y, const BoostingRule& rule,
                               const Progress& progress)
    : learners_(learners), y_(std::move(y)), rule_(rule), progress_(progress) {
  const auto n = static_cast<Eigen::Index>(y_.size());
  if (rule_.step == Step::frank_wolfe) sharpness_ = 1 / rule_.smoothing;
  scores_ = q_ = average_ = signed_q_ = h_ = Eigen::VectorXd::Zero(n);
  move(0);
  weigh();
}

double BoostingRounds::edge_of(const Eigen::VectorXd& q) {
  trial_.resize(q.size());
  each_row(q.size(), progress_,
           [y = y_.data(), of = q.data(), to = trial_.data()](Eigen::Index i) { to[i] = y[i] * of[i]; });
  return std::fabs(learners_.best(trial_, progress_).edge);
}

double BoostingRounds::find() {
  chosen_ = learners_.best(signed_q_, progress_);
  return std::fabs(chosen_.edge);
}

void BoostingRounds::step() {
  const double sign = chosen_.edge < 0 ? -1 : 1;
  each_stretch(h_.size(), progress_, [this, sign](Eigen::Index begin, Eigen::Index end) {
    double* const h = h_.data();
    const double* const y = y_.data();
    learners_.values(chosen_.learner, begin, end, h);
    for (Eigen::Index i = begin; i < end; ++i) h[i] *= sign * y[i];
  });
  const double size = rule_.step == Step::frank_wolfe ? share_of_way() : size_of_step();
  total_step_ += size;
  last_change_ = sign * size;
  last_learner_ = chosen_.learner;
  move(size);
  weights_.resize(learners_.size(), 0.0);
  if (rule_.step == Step::frank_wolfe)
    for (double& w : weights_) w *= 1 - size;
  weights_[chosen_.learner] += sign * size;
  weigh();
}

/// Makes h_ the way from the margins of now to those of the learner alone, and tells which share of it to go.
double BoostingRounds::share_of_way() {
  double gain = 0, longest = 0;
  polled_each(h_.size(), 4, progress_, [&](std::int64_t i) {
    h_(i) -= y_[static_cast<std::size_t>(i)] * scores_(i);
    gain += q_(i) * h_(i);
    longest = std::max(longest, std::fabs(h_(i)));
  });
  return longest > 0 ? std::clamp(rule_.smoothing * gain / (longest * longest), 0.0, 1.0) : 0.0;
}

double BoostingRounds::size_of_step() const {
  const double edge = std::fabs(chosen_.edge);
  switch (rule_.step) {
    case Step::quadratic:
      return rule_.shrinkage * edge;
    case Step::adaboost:
      return std::min(largest_step, 0.5 * rule_.shrinkage * std::log((1 + edge) / std::max(1e-300, 1 - edge)));
    case Step::optimal:
      return rule_.shrinkage * minimiser();
    default:
      return wolfe();
  }
}

/// L and its slope after a step, over L now, with b minimised out. Rows of weight 0 stay without weight.
BoostingRounds::Point BoostingRounds::at(double step) const {
  if (!as_exponential_) return logistic_at(step);
  const std::array<double, 4> sums = sums_over<4>(
      h_.size(), progress_,
      [h = h_.data(), q = q_.data(), y = y_.data(), step, apart = rule_.intercept](Eigen::Index i, auto& s) {
        if (q[i] == 0) return;
        const std::size_t side = apart && y[i] > 0 ? 1 : 0;
        const double e = q[i] * std::exp(-step * h[i]);
        s[side] += e;
        s[2 + side] -= e * h[i];
      });
  const double sum[2] = {sums[0], sums[1]}, slope[2] = {sums[2], sums[3]};
  if (!rule_.intercept) return {sum[0], slope[0]};
  const double value = 2 * std::sqrt(sum[0] * sum[1]);
  return {value, 0.5 * value * (slope[0] / sum[0] + slope[1] / sum[1])};
}

BoostingRounds::Point BoostingRounds::logistic_at(double step) const {
  const double b = rule_.intercept ? best_offset(step, offset_) : 0.0;
  const auto [value, slope] = sums_over<2>(h_.size(), progress_, [&](Eigen::Index i, auto& s) {
    const double m = y_[static_cast<std::size_t>(i)] * (scores_(i) + b) + step * h_(i);
    s[0] += logistic_loss(m);
    s[1] -= logistic_slope(m) * h_(i);
  });
  const double now = std::exp(log_loss_) * static_cast<double>(h_.size());
  return {value / now, slope / now};
}

/// The b that minimises the logistic loss after a step: Newton, kept inside a bracket of its root.
double BoostingRounds::best_offset(double step, double start) const {
  double low = -infinity, high = infinity, b = start;
  for (int iteration = 0; iteration < 100; ++iteration) {
    const auto [slope, curvature, mass] = sums_over<3>(h_.size(), progress_, [&](Eigen::Index i, auto& s) {
      const double y = y_[static_cast<std::size_t>(i)];
      const double p = logistic_slope(y * (scores_(i) + b) + step * h_(i));
      s[0] -= y * p;
      s[1] += p * (1 - p);
      s[2] += p;
    });
    if (std::fabs(slope) <= 1e-14 * mass) break;
    (slope > 0 ? high : low) = b;
    double next = b - slope / std::max(curvature, 1e-300);
    next = std::clamp(next, b - 4.0, b + 4.0);
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    if (next == b || !std::isfinite(next)) break;
    b = next;
  }
  return b;
}

/// Conditions (2.1) and (2.2). The interval of good steps is about [νγ/4, νγ], so its upper bound is tried first.
double BoostingRounds::wolfe() const {
  const double nu = rule_.shrinkage, fall = std::fabs(chosen_.edge) * gradient_;
  double low = 0, high = infinity, step = nu * std::fabs(chosen_.edge);
  for (int iteration = 0; iteration < 60; ++iteration) {
    const Point p = at(step);
    if (!(p.value <= 1 - step * (1 - nu / 2) * fall))
      high = step;
    else if (!(p.slope >= -(1 - nu / 4) * fall) && step < largest_step)
      low = step;
    else
      break;
    step = std::isfinite(high) ? 0.5 * (low + high) : std::min(2 * low, largest_step);
  }
  return step;
}

double BoostingRounds::minimiser() const {
  double low = 0, high = std::max(1e-3, 2 * std::fabs(chosen_.edge));
  while (high < largest_step && at(high).slope < 0) {
    low = high;
    high = std::min(2 * high, largest_step);
  }
  if (high >= largest_step && at(largest_step).slope < 0) return largest_step;
  for (int iteration = 0; iteration < 60 && high - low > 1e-12 * high; ++iteration) {
    const double middle = 0.5 * (low + high);
    (at(middle).slope < 0 ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

double BoostingRounds::margin() const {
  double norm = 0;
  for (const double w : weights_) norm += std::fabs(w);
  if (!(norm > 0)) return -infinity;
  return (rule_.intercept ? 0.5 * (least_[0] + least_[1]) : std::min(least_[0], least_[1])) / norm;
}

double BoostingRounds::offset() const { return rule_.intercept ? 0.5 * (least_[0] - least_[1]) : 0.0; }

/// A step of this size along h_: the scores, the smallest of each class, and the average of the weights that were left.
void BoostingRounds::move(double size) {
  const Chunks stretches = stretches_of(scores_.size());
  std::vector<std::array<double, 2>> least(stretches.count(), {infinity, infinity});
  progress_.threads().run(stretches.count(), progress_, [&](std::size_t k, const Progress& own) {
    const double *const y = y_.data(), *const h = h_.data(), *const q = q_.data(), by = size;
    double *const average = average_.data(), *const scores = scores_.data();
    double smallest[2] = {infinity, infinity};
    for (Eigen::Index i = stretches.begin(k), end = stretches.end(k); i < end; ++i) {
      average[i] += by * q[i];
      scores[i] += by * y[i] * h[i];
      const double score = y[i] * scores[i];
      // Both without a branch, which would be taken or not as the classes come.
      smallest[0] = std::min(smallest[0], y[i] > 0 ? infinity : score);
      smallest[1] = std::min(smallest[1], y[i] > 0 ? score : infinity);
    }
    least[k] = {smallest[0], smallest[1]};
    own.work(3.0 * static_cast<double>(stretches.end(k) - stretches.begin(k)));
  });
  for (const std::size_t side : {0, 1}) {
    least_[side] = infinity;
    for (const std::array<double, 2>& part : least) least_[side] = std::min(least_[side], part[side]);
  }
}

void BoostingRounds::weigh() {
  const double margin = rule_.intercept ? 0.5 * (least_[0] + least_[1]) : std::min(least_[0], least_[1]);
  as_exponential_ = !rule_.logistic || margin > tail;
  if (as_exponential_)
    weigh_exponential();
  else
    weigh_logistic();
}

/// q times the factor of each class, and y q.
void BoostingRounds::scale_weights(const double (&factor)[2]) {
  each_row(
      q_.size(), progress_,
      [y = y_.data(), q = q_.data(), signed_q = signed_q_.data(), one = factor[1], other = factor[0]](Eigen::Index i) {
        q[i] *= y[i] > 0 ? one : other;
        signed_q[i] = y[i] * q[i];
      });
}

/// q = soft-min weights, of each class by itself when b is free; ln L = ln 2/n + (ln A + ln B)/2, or ln A/n.
void BoostingRounds::weigh_exponential() {
  const double both = std::min(least_[0], least_[1]);
  const double reference[2] = {rule_.intercept ? least_[0] : both, rule_.intercept ? least_[1] : both};
  const std::array<double, 2> sum = sums_over<2>(scores_.size(), progress_, [&](Eigen::Index i, auto& s) {
    const double y = y_[static_cast<std::size_t>(i)];
    const std::size_t side = y > 0 ? 1 : 0;
    const double beyond = sharpness_ * (y * scores_(i) - reference[side]);
    q_(i) = beyond > cut_off ? 0.0 : std::exp(-beyond);
    s[side] += q_(i);
  });
  const auto n = static_cast<double>(scores_.size());
  double share[2];
  if (rule_.intercept) {
    for (const std::size_t side : {0, 1}) share[side] = 0.5 / sum[side];
    const double log_a = std::log(sum[1]) - sharpness_ * reference[1],
                 log_b = std::log(sum[0]) - sharpness_ * reference[0];
    log_loss_ = std::log(2 / n) + 0.5 * (log_a + log_b);
    offset_ = 0.5 * (log_a - log_b) / sharpness_;
  } else {
    share[0] = share[1] = 1 / (sum[0] + sum[1]);
    log_loss_ = std::log((sum[0] + sum[1]) / n) - sharpness_ * both;
    offset_ = 0;
  }
  scale_weights(share);
  gradient_ = 1;
  progress_.work(4.0 * n);
}

void BoostingRounds::weigh_logistic() {
  offset_ = rule_.intercept ? best_offset(0, offset_) : 0.0;
  const std::array<double, 3> sums = sums_over<3>(scores_.size(), progress_, [&](Eigen::Index i, auto& s) {
    const double y = y_[static_cast<std::size_t>(i)], m = y * (scores_(i) + offset_);
    s[2] += logistic_loss(m);
    q_(i) = logistic_slope(m);
    s[y > 0 ? 1 : 0] += q_(i);
  });
  const double loss = sums[2], sum[2] = {sums[0], sums[1]};
  const auto n = static_cast<double>(scores_.size());
  log_loss_ = std::log(loss / n);
  gradient_ = (sum[0] + sum[1]) / loss;
  // The minimising b balances the classes; made exact, so that q needs no intercept to be a certificate.
  double share[2];
  for (const std::size_t side : {0, 1}) share[side] = rule_.intercept ? 0.5 / sum[side] : 1 / (sum[0] + sum[1]);
  scale_weights(share);
  progress_.work(4.0 * n);
}

}  // namespace margin
