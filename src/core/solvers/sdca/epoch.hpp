// The two loops over rows in which coordinate ascent spends its time, compiled once per loss.
#pragma once

#include <algorithm>
#include <optional>
#include <type_traits>

#include "core/loss/registry.hpp"
#include "core/solvers/free_intercept.hpp"
#include "core/solvers/run.hpp"
#include "core/solvers/sdca/shuffle.hpp"
#include "core/solvers/sdca/state.hpp"

namespace margin {

/// Duals of earlier iterations, for the outputs `average` and `random` of the paper's procedure.
class DualHistory {
 public:
  virtual ~DualHistory() = default;
  /// Before a step: row `i` had the value `a` since its last change.
  virtual void before_change(std::size_t i, double a) = 0;
  virtual void after_visit() = 0;
};

struct EpochResult {
  double violation = 0;  ///< the largest distance of a score from where its row's a would be optimal
  double estimate = 0;   ///< Σ of Fenchel-Young gaps as met on the way: the duality gap, were w constant
  double visits = 0;
  bool moved = false;
  bool out_of_time = false;
};

struct GapResult {
  double primal = 0, dual = 0, intercept = 0;
  double gap() const { return primal - dual; }
  double size() const { return std::max(std::abs(primal), std::abs(dual)); }
};

namespace detail {

/// Losses outside the list (tests may bring their own) are treated as settling.
template <class L>
constexpr bool settles() {
  if constexpr (std::is_same_v<L, Loss>)
    return true;
  else
    return L::settles;
}

/// φ(u) + φ*(−a) + a u before the step `delta` of the row. For the logistic loss from the step alone, to second order,
/// without another three logarithms; it only decides when to look at the gap.
template <class L>
double fenchel_young(const L& loss, double u, const Coordinate& row, double delta) {
  if constexpr (std::is_same_v<L, Logistic>) {
    const double b = std::abs(row.a + delta), curvature = b * (1 - b);
    const double residual = delta * (1 + row.s * curvature);
    return curvature > 0 ? residual * residual / (2 * curvature) : 0.0;
  } else {
    return loss.value(u, row.y) + loss.conjugate(row.a, row.y) + row.a * u;
  }
}

/// The a at which D is largest, near enough for a step.
template <class L>
double step_to(const L& loss, double u, const Coordinate& row) {
  if constexpr (std::is_same_v<L, Logistic>)
    return loss.ascent_step(u, row.y, row.a, row.s);
  else
    return loss.dual_step(u, row.y, row.a, row.s);
}

/// The lines of a row, some visits before it is needed; beyond a kilobyte the hardware has caught on.
inline void prefetch_row(const Row& x) {
  const char* p = static_cast<const char*>(x.values);
  const long bytes = static_cast<long>(x.count) * ((x.wide ? 8 : 4) + (x.indices != nullptr ? 4 : 0));
  for (long at = 0; at < bytes && at < 1024; at += 64) __builtin_prefetch(p + at);
}

}  // namespace detail

/// One epoch: visit the rows of `order` (shuffled on the way when `shuffle`), each with the exact step of its
/// coordinate, `most` of them. Rows whose slack exceeds `threshold` leave `order` (none do when it is +∞).
template <class L>
EpochResult run_epoch(const L& loss, SdcaState& state, std::vector<std::int32_t>& order, double most, double threshold,
                      bool shuffle, Random& random, Run& run, DualHistory* history) {
  constexpr std::size_t row_ahead = 6, coordinate_ahead = 12;
  EpochResult result;
  Coordinate* const rows = state.rows.data();
  const std::size_t n = order.size();
  const std::size_t end = most < static_cast<double>(n) ? static_cast<std::size_t>(most) : n;
  std::size_t kept = 0, k = 0;
  double work = 0;
  std::optional<Shuffle> permutation;
  if (shuffle) permutation.emplace(order, random, state.stretches, run);
  const auto announce = [&](std::size_t at) {
    __builtin_prefetch(rows + (permutation ? permutation->settle(at) : order[at]));
  };
  for (std::size_t at = 0; at < std::min(n, coordinate_ahead); ++at) announce(at);
  for (; k < end; ++k) {
    if (k + coordinate_ahead < n) announce(k + coordinate_ahead);
    if (k + row_ahead < n) detail::prefetch_row(rows[order[k + row_ahead]].x);
    const std::int32_t i = order[k];
    Coordinate& row = rows[i];
    work += row.x.count + 16.0;
    if (work >= 262144.0) {
      run.work(2 * work);
      work = 0;
      if (run.out_of_time()) {
        result.out_of_time = true;
        break;
      }
    }
    const double u = state.score(row.x);
    double slack = -1;
    if constexpr (detail::settles<L>()) {
      slack = loss.slack(u, row.y, row.a);
      if (slack > threshold) continue;
    }
    order[kept++] = i;
    if (slack < 0) {
      if constexpr (detail::settles<L>()) result.violation = std::max(result.violation, -slack);
      const double a = detail::step_to(loss, u, row), delta = a - row.a;
      result.estimate += row.scale * detail::fenchel_young(loss, u, row, delta);
      if (delta != 0) {
        if (history != nullptr) history->before_change(static_cast<std::size_t>(i), row.a);
        state.move(row, a);
        result.moved = true;
      }
    }
    if (history != nullptr) history->after_visit();
  }
  result.visits = static_cast<double>(k);
  for (; k < n; ++k) order[kept++] = order[k];
  order.resize(kept);
  run.work(2 * work);
  result.estimate *= state.convexity;
  return result;
}

/// The same of a free intercept: P at the best intercept for the weights, D at duals that are scaled until Σ c a = 0.
/// `u`: the scores.
template <class L>
GapResult free_gap(const L& loss, const SdcaState& state, Run& run, const std::vector<double>& u) {
  const std::size_t n = state.rows.size();
  double above = 0, below = 0, residual = 0, all = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const Coordinate& row = state.rows[i];
    (row.a > 0 ? above : below) += row.scale * std::abs(row.a);
    residual += row.scale * std::abs(row.y - u[i]);
    all += row.scale;
  }
  const Balance share = Balance::of(above, below);
  // D at the scaled duals: ‖w‖² changes by what their scores say of it, but for the square of the change.
  double losses = 0, conjugates = 0, along = 0, lost = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const Coordinate& row = state.rows[i];
    losses += row.scale * loss.value(u[i], row.y);
    if (row.a == 0) continue;
    const double a = share(row.a), change = row.scale * (row.a - a);
    conjugates += row.scale * loss.conjugate(a, row.y);
    if (change == 0) continue;
    along += change * (u[i] - state.intercept);
    lost += std::abs(change) * state.length(row);
  }
  run.work(24.0 * static_cast<double>(n));
  GapResult gap;
  gap.dual = -state.convexity * (conjugates - along + 0.5 * lost * lost) - state.conjugate_penalty();
  // The best intercept, as far as the gap is worth it.
  const double penalty = state.penalty(),
               enough = 1e-2 * std::max(0.0, losses + (penalty - gap.dual) / state.convexity);
  // It lies about as far away as the centre will move.
  const double unit = std::abs(state.intercept - state.centre);
  const double shift = balanced_shift(
      [&](double t) {
        SlopeAt at;
        for (std::size_t i = 0; i < n; ++i) {
          const Coordinate& row = state.rows[i];
          const double slope = row.scale * loss.derivative(u[i] + t, row.y);
          at.value += slope;
          at.size += std::abs(slope);
          if (loss.smooth()) at.curvature += row.scale * loss.second_derivative(u[i] + t, row.y);
        }
        run.work(16.0 * static_cast<double>(n));
        return at;
      },
      unit > 0                                   ? unit
      : loss.classification() || loss.log_link() ? 1.0
                                                 : residual / all,
      enough);
  double best = 0;
  for (std::size_t i = 0; i < n; ++i) best += state.rows[i].scale * loss.value(u[i] + shift, state.rows[i].y);
  const bool better = best < losses;
  gap.primal = state.convexity * (better ? best : losses) + penalty;
  gap.intercept = state.intercept + (better ? shift : 0.0);
  return gap;
}

/// D at the duals and the weights as they stand, without a look at the rows; not of a free intercept.
template <class L>
double dual_value(const L& loss, const SdcaState& state, Run& run) {
  double conjugates = 0;
  for (std::size_t i = 0; i < state.rows.size(); ++i) {
    const Coordinate& row = state.rows[i];
    if (row.a != 0) conjugates += row.scale * loss.conjugate(row.a, row.y);
    if (i % 4096 == 4095) run.work(16.0 * 4096);
  }
  return -state.convexity * conjugates - state.conjugate_penalty();
}

/// Both values at the weights as they stand, over all rows; `order` becomes the rows whose slack is at most
/// `threshold`.
template <class L>
GapResult measure_gap(const L& loss, SdcaState& state, Run& run, double threshold, std::vector<std::int32_t>* order) {
  double losses = 0, conjugates = 0, work = 0;
  if (order != nullptr) order->clear();
  const std::size_t n = state.rows.size();
  std::size_t next = 0;  // of state.movable
  std::vector<double> scores(state.free_intercept() ? n : 0);
  for (std::size_t i = 0; i < n; ++i) {
    const Coordinate& row = state.rows[i];
    const double u = state.score(row.x);
    if (state.free_intercept()) {
      scores[i] = u;
    } else {
      losses += row.scale * loss.value(u, row.y);
      if (row.a != 0) conjugates += row.scale * loss.conjugate(row.a, row.y);
    }
    work += row.x.count + 16.0;
    if (work >= 262144.0) {
      run.work(work);
      work = 0;
    }
    if (next == state.movable.size() || static_cast<std::size_t>(state.movable[next]) != i) continue;
    if (order != nullptr) {
      bool active = true;
      if constexpr (detail::settles<L>()) active = !(loss.slack(u, row.y, row.a) > threshold);
      if (active) order->push_back(state.movable[next]);
    }
    ++next;
  }
  run.work(work);
  if (state.free_intercept()) return free_gap(loss, state, run, scores);
  return {state.convexity * losses + state.penalty(), -state.convexity * conjugates - state.conjugate_penalty(),
          state.intercept};
}

}  // namespace margin
