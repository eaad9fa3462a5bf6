// Stochastic dual coordinate ascent on all folds of a cross-validation side by side.
//
// Problem    for every fold f: min P of certificate/risk.hpp over the rows outside of f, through its dual; no elastic
//            net.
// Update     a visit to row i takes one coordinate step in the model of every fold but the row's own. The exact step of
//            solvers/sdca/sdca.cpp; for the logistic loss, where that costs many exponentials, the step (−φ'(u) − a)/(1
//            + s/4), which never passes the maximum as φ'' ≤ 1/4.
// Order      one permutation for all folds, rows left out as in solvers/sdca/sdca.cpp when all folds' slacks allow it.
// Why        a visit's price is the row's way from memory, which ten folds now share; the weights lie feature by
//            feature, all folds side by side, so that a feature's ten weights are one or two cache lines
//            (simd/panel.inc).
//            A free intercept moves in proximal steps, fold by fold. Where columns are standardised, the rows are in the
//            units of all of them, and every fold's own are a diagonal (solvers/sdca/fold_units.hpp).
// Stop       relative gap (P(w) − D(a)) / max(|P|, |D|) ≤ tolerance in every fold and output, in double precision from
//            the solver's own scores; not the certificate of a model, which would cost another pass for each.
// Source     Shalev-Shwartz & Zhang (2013), as solvers/sdca/sdca.cpp; the shared visits are ours.
#include "core/solvers/sdca/fold_ascent.hpp"

#include <algorithm>
#include <cmath>

#include "core/loss/registry.hpp"
#include "core/math/rounding.hpp"
#include "core/problem/thresholds.hpp"
#include "core/solvers/output.hpp"
#include "core/solvers/run.hpp"
#include "core/solvers/sdca/epoch.hpp"
#include "core/solvers/sdca/fold_gap.hpp"
#include "core/solvers/sdca/fold_rows.hpp"
#include "core/solvers/sdca/fold_steps.hpp"
#include "core/solvers/sdca/gap_schedule.hpp"
#include "core/solvers/solver.hpp"

namespace margin {

namespace {

/// Of sdca, all folds side by side.
const SolverRecord& fold_record() {
  static const SolverRecord record = {"",
                                      "",
                                      SolverRecord::soft_margin,
                                      SolverRecord::l2,
                                      SolverRecord::Losses::all,
                                      false,
                                      {},
                                      one_vs_rest_or_numbers | feature::free_intercept};
  return record;
}

}  // namespace

bool FoldAscent::takes(const Options& s) {
  // Its steps are those of the defaults, and models have limits of their own.
  return hands_over(s, SolverRecord::folds) && refusal(fold_record(), demand_of(s)).empty() &&
         s.order == Order::permutation && !asks_for_output(s) && !s.average_from.has_value() &&
         s.start == Start::zero && !s.accelerated.value_or(false) && !(s.gap_tolerance > 0) &&
         !s.max_iterations.has_value() && !s.max_seconds.has_value();
}

void FoldAscent::dot_panel(std::size_t i, double* u) const {
  dot_panel_of(rows_[i].x, at_->w, width_, u);
  for (std::size_t f = 0; f < width_; ++f) u[f] += at_->b[f] + offset_[f];
  if (shifts_.empty()) return;
  const double* const shift = &shifts_[i * width_];
  for (std::size_t f = 0; f < width_; ++f)
    u[f] -= at_->drift[f] + at_->b[f] / constant_ * (shift[f] - units_->square[f]);
}

// Visits the rows of order_, in an order of its own; returns their number. Rows that every fold can spare leave order_.
template <class L>
double FoldAscent::epoch(const L& loss) {
  constexpr std::size_t row_ahead = 6, visit_ahead = 12;
  const double threshold = violation_ > 0 ? shrink_share * violation_ : infinity;
  const std::size_t n = order_.size();
  const double* const factors = units_.has_value() ? units_->shrink.data() : nullptr;
  std::size_t kept = 0;
  Shuffle permutation(order_, random_, stretches_, run_);
  const auto announce = [&](std::size_t k) {
    const auto i = static_cast<std::size_t>(permutation.settle(k));
    __builtin_prefetch(&rows_[i]);
    __builtin_prefetch(&at_->a[i * width_]);
    __builtin_prefetch(&at_->a[i * width_ + width_ - 1]);
  };
  std::fill(estimate_.begin(), estimate_.end(), 0.0);
  violation_ = 0;
  moved_ = false;
  live_ = unit_;
  for (std::size_t k = 0; k < live_.size(); ++k) live_[k] *= reached_[k % width_] != 0 ? 0.0 : 1 / strength(k % width_);
  double u[widest_panel], scale[widest_panel], t[widest_panel];
  for (std::size_t k = 0; k < std::min(n, visit_ahead); ++k) announce(k);
  for (std::size_t k = 0; k < n; ++k) {
    if (k + visit_ahead < n) announce(k + visit_ahead);
    if (k + row_ahead < n) detail::prefetch_row(rows_[static_cast<std::size_t>(order_[k + row_ahead])].x);
    const std::int32_t i = order_[k];
    const Visit& v = rows_[static_cast<std::size_t>(i)];
    double* const a = &at_->a[static_cast<std::size_t>(i) * width_];
    const double* const live = &live_[static_cast<std::size_t>(v.label) * width_];
    for (std::size_t f = 0; f < width_; ++f) scale[f] = v.weight * live[f];
    if (v.fold >= 0 && v.fold < count_) scale[v.fold] = 0;
    dot_panel(static_cast<std::size_t>(i), u);
    const FoldSteps steps =
        step_all(loss, {u, scale, v.y, v.size + constant_, width_, threshold}, a, t, estimate_.data());
    violation_ = std::max(violation_, steps.violation);
    if (steps.moved) {
      moved_ = true;
      add_panel(t, factors, v.x, width_, at_->w.data());
      for (std::size_t f = 0; f < width_; ++f) at_->b[f] += t[f] * constant_;
      if (!shifts_.empty())
        for (std::size_t f = 0; f < width_; ++f)
          at_->drift[f] += t[f] * shifts_[static_cast<std::size_t>(i) * width_ + f];
    }
    if (steps.wanted) order_[kept++] = i;
    run_.work(0.25 * static_cast<double>(width_) * v.x.count + 64.0);
  }
  order_.resize(kept);
  return static_cast<double>(n);
}

// One pass over all rows: both values of every fold, which folds are done, and the rows that the others still need. A
// fold's weights rest once it is done, so that its held-out scores are those of this pass.
template <class L>
void FoldAscent::look(const L& loss, double epochs) {
  const double threshold = violation_ > 0 ? shrink_share * violation_ : infinity;
  const std::size_t folds = static_cast<std::size_t>(count_);
  const bool free = problem_.free_intercept;
  FoldSums sums[widest_panel];
  double u[widest_panel], values[widest_panel];
  order_.clear();
  const auto output = static_cast<std::size_t>(at_ - outputs_.data());
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Visit& v = rows_[i];
    const double* const a = &at_->a[i * width_];
    const double* const unit = &unit_[static_cast<std::size_t>(v.label) * width_];
    const double length = free ? std::sqrt(v.size) : 0.0;
    bool wanted = false;
    dot_panel(i, u);
    if (v.fold >= 0 && v.fold < count_)
      held_out_[i * outputs_.size() + output] = u[v.fold] * problem_.target_scale + problem_.target_center;
    if (!(v.weight > 0)) continue;
    panel_values(loss, u, v.y, width_, values);
    for (std::size_t f = 0; f < folds; ++f) {
      if (reached_[f] != 0 || v.fold == static_cast<std::int32_t>(f)) continue;
      const double c = v.weight * unit[f];
      sums[f].add_loss(c * values[f]);
      if (a[f] != 0)
        sums[f].add_dual(a[f] > 0, c * (loss.conjugate(a[f], v.y) + a[f] * offset_[f]),
                         c * a[f] * (u[f] - offset_[f] - (free ? at_->b[f] : 0.0)), c * std::fabs(a[f]),
                         free ? c * std::fabs(a[f]) * length : 0.0);
      if constexpr (detail::settles<L>()) wanted |= loss.slack(u[f], v.y, a[f]) <= threshold;
    }
    if (v.weight > 0 && v.size + constant_ > 0 && (wanted || !detail::settles<L>()))
      order_.push_back(static_cast<std::int32_t>(i));
    run_.work(0.25 * static_cast<double>(width_) * v.x.count + 64.0);
  }
  widest_ = 0;
  double lower = 0, upper = 0;  // of the widest fold
  for (std::size_t f = 0; f < folds; ++f) {
    if (reached_[f] != 0) continue;
    const double primal = sums[f].primal(), dual = sums[f].dual(free, strength(f));
    at_->size[f] = std::max(std::fabs(primal), std::fabs(dual));
    target_[f] = certifiable * settings_.tolerance * at_->size[f];
    reached_[f] = primal - dual <= target_[f];
    if (reached_[f] != 0) continue;
    const double ratio = (primal - dual) / target_[f];
    if (ratio <= widest_) continue;
    widest_ = ratio < infinity ? ratio : infinity;
    lower = dual;
    upper = primal;
  }
  if (widest_ > 0) run_.record(static_cast<std::int64_t>(std::ceil(epochs)), lower, upper);
}

// The centre of a free intercept moves to where b has come once the fold's promised gap has fallen far enough, and b as
// far again.
void FoldAscent::recentre() {
  const bool stuck = !moved_;
  for (std::size_t f = 0; f < static_cast<std::size_t>(count_); ++f) {
    if (reached_[f] != 0) continue;
    inner_[f] = std::max(inner_[f], estimate_[f]);
    if (!stuck && estimate_[f] > inner_share * inner_[f]) continue;
    inner_[f] = estimate_[f];
    const double by = at_->b[f] - at_->centre[f];
    at_->centre[f] = at_->b[f];
    at_->b[f] += by;
    moved_ |= std::fabs(by) > 1e-15 * std::fabs(at_->b[f]);
  }
}

template <class L>
void FoldAscent::ascend(const L& loss, double epochs) {
  const auto all = static_cast<double>(std::max<std::size_t>(1, movable_.size()));
  GapSchedule schedule(all, 1.0);
  double visits = 0;
  bool full = true;  // the last epoch saw every movable row
  order_ = movable_;
  violation_ = 0;
  inner_.assign(width_, 0.0);
  for (;;) {
    full &= order_.size() == movable_.size();
    visits += epoch(loss);
    if (problem_.free_intercept) recentre();
    double promised = 0;
    for (std::size_t f = 0; f < static_cast<std::size_t>(count_); ++f)
      if (reached_[f] == 0)
        promised = std::max(promised, target_[f] > 0 ? strength(f) * estimate_[f] / target_[f] : infinity);
    const bool last = visits >= epochs * all, stuck = !moved_;
    if (!last && !stuck && !schedule.due(visits, promised)) continue;
    look(loss, visits / all);
    schedule.looked(visits, promised, widest_, 1.0);
    if (std::find(reached_.begin(), reached_.begin() + count_, 0) == reached_.begin() + count_) return;
    if (last || !(widest_ < infinity) || (stuck && full)) return;
    full = stuck;
    if (stuck) {
      order_ = movable_;
      violation_ = 0;
    }
  }
}

std::vector<char> FoldAscent::solve(double lambda, double epochs) {
  std::vector<char> all(static_cast<std::size_t>(count_), 1);
  for (std::int32_t o = 0; o < problem_.outputs(); ++o) {
    const double before = lambda_;
    turn_to(o, lambda);
    lambda_ = lambda;
    constant_ = constant_squared(lambda);
    settle_zero_rows();
    reached_.assign(width_, 0);
    for (std::size_t f = 0; f < width_; ++f) target_[f] = 0.5 * settings_.tolerance * at_->size[f];
    visit(*problem_.loss, [&](const auto& loss) { ascend(loss, epochs); });
    for (std::size_t f = 0; f < all.size(); ++f) all[f] = all[f] != 0 && reached_[f] != 0;
    lambda_ = before;
  }
  lambda_ = lambda;
  return all;
}

}  // namespace margin
