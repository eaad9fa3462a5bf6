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
// Stop       relative gap (P(w) − D(a)) / max(|P|, |D|) ≤ tolerance in every fold and output, in double precision from
//            the solver's own scores; not the certificate of a model, which would cost another pass for each.
// Source     Shalev-Shwartz & Zhang (2013), as solvers/sdca/sdca.cpp; the shared visits are ours.
#include "core/solvers/sdca/fold_ascent.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/huge_pages.hpp"
#include "core/loss/registry.hpp"
#include "core/problem/target_units.hpp"
#include "core/problem/thresholds.hpp"
#include "core/solvers/run.hpp"
#include "core/solvers/sdca/epoch.hpp"
#include "core/solvers/sdca/fold_steps.hpp"
#include "core/solvers/sdca/gap_schedule.hpp"
#include "core/solvers/solver.hpp"

namespace margin {

extern const Solver& sdca;
extern const Solver& soft_auto;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::size_t panel_width(std::int32_t folds) { return static_cast<std::size_t>((folds + 3) / 4 * 4); }

void add_panel(const double* coefficients, const Row& x, std::size_t width, double* w) {
  const auto n = static_cast<std::size_t>(x.count);
  if (x.wide)
    simd().panel_add_d(coefficients, x.doubles(), x.indices, n, width, w);
  else
    simd().panel_add_f(coefficients, x.floats(), x.indices, n, width, w);
}

/// squares[f] += Σ of the squares of column f of a panel.
void add_squares(const std::vector<double>& panel, std::size_t width, double* squares) {
  for (std::size_t k = 0; k < panel.size(); k += width)
    for (std::size_t f = 0; f < width; ++f) squares[f] += panel[k + f] * panel[k + f];
}

/// Column f of a panel times factor[f].
void multiply(std::vector<double>& panel, std::size_t width, const double* factor) {
  for (std::size_t k = 0; k < panel.size(); k += width)
    for (std::size_t f = 0; f < width; ++f) panel[k + f] *= factor[f];
}

}  // namespace

/// A row beside what a step needs of it; one cache line.
struct alignas(64) FoldAscent::Visit {
  Row x;
  double size = 0;    // ‖x‖² + B²
  double weight = 0;  // without the class's
  double y = 0;
  std::int32_t label = 0;  // 0 for a regression
  std::int32_t fold = 0;   // from first_; outside of 0 … count_ − 1: in all of these models
};

/// One against the rest: the models of all folds. Panels: a by row, w by feature.
struct FoldAscent::Output {
  std::vector<double> a, w;
  double b[widest_panel] = {};
  double size[widest_panel] = {};  // max(|P|, |D|) as last measured, P(0) before that
};

std::string FoldAscent::unsupported_reason(const Options& s) {
  if (s.hard_margin()) return "it needs lambda";
  const Solver* const named = find_solver(s.solver);
  if (s.solver != "auto" && named != &sdca && named != &soft_auto) return "another solver is asked for";
  if (s.standardize) return "every fold has units of its own";
  if (!s.kernel.empty() && s.kernel != "linear") return "it has no kernels";
  if (s.l1_ratio > 0) return "it has no elastic net";
  if (s.free_intercept()) return "its intercept is a penalised one";
  if (s.order != Order::permutation || s.output != margin::Output::last || s.start != Start::zero)
    return "an option of sdca is set";
  if (s.max_iterations.has_value() || s.max_seconds.has_value()) return "models have limits of their own";
  return {};
}

double FoldAscent::workspace(const Problem& p, std::int32_t folds) {
  const double n = static_cast<double>(p.rows()), width = static_cast<double>(panel_width(folds));
  return n * (sizeof(Visit) + 8.0 + 8.0 * (width + 1) * p.outputs()) + 8.0 * width * p.outputs() * p.dimensions();
}

FoldAscent::FoldAscent(const Problem& p, const Options& options, const std::vector<std::int32_t>& fold,
                       std::int32_t first, std::int32_t count, Run& run)
    : problem_(p),
      settings_(options),
      first_(first),
      count_(count),
      width_(panel_width(count)),
      run_(run),
      random_(options.seed),
      stretches_(p.data, run),
      rows_(spread<Visit>(static_cast<std::size_t>(p.rows()))),
      outputs_(static_cast<std::size_t>(p.outputs())),
      held_out_(rows_.size() * outputs_.size()),
      estimate_(width_),
      target_(width_),
      offset_(width_) {
  const auto classes = static_cast<std::size_t>(std::max(1, p.classes));
  const double constant = p.intercept ? p.intercept_scale * p.intercept_scale : 0.0;
  std::vector<double> mass(classes * width_, 0.0);  // row weight of each class outside of each fold
  std::vector<double> all(classes, 0.0);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    Visit& v = rows_[i];
    v.x = p.data.row(row);
    v.size = squared_norm(v.x) + constant;
    v.weight = p.data.weight(row);
    v.label = p.classes > 0 ? p.label[i] : 0;
    v.fold = fold[i] - first;
    all[static_cast<std::size_t>(v.label)] += v.weight;
    if (v.fold >= 0 && v.fold < count)
      mass[static_cast<std::size_t>(v.label) * width_ + static_cast<std::size_t>(v.fold)] += v.weight;
    run_.work(v.x.count + 32.0);
  }
  unit_.assign(classes * width_, 0.0);
  for (std::size_t f = 0; f < static_cast<std::size_t>(count); ++f) {
    std::vector<double> kept(classes);
    double total = 0;
    for (std::size_t c = 0; c < classes; ++c) total += kept[c] = all[c] - mass[c * width_ + f];
    const std::vector<double> factor =
        p.classes > 0 ? class_weights(options, p.class_names, kept) : std::vector<double>(1, 1.0);
    for (std::size_t c = 0; c < classes; ++c) unit_[c * width_ + f] = total > 0 ? factor[c] / total : 0.0;
    if (p.task == Task::regression && p.intercept && total > 0)
      offset_[f] = best_constant({p.data, &fold, first + static_cast<std::int32_t>(f)}, *p.loss, run.progress()) -
                   p.target_center;
  }
}

FoldAscent::~FoldAscent() = default;

double FoldAscent::constant(std::size_t f) const { return problem_.target_center + offset_[f]; }

void FoldAscent::dot_panel(const Row& x, double* u) const {
  const auto n = static_cast<std::size_t>(x.count);
  if (x.wide)
    simd().panel_dot_d(x.doubles(), x.indices, n, at_->w.data(), width_, u);
  else
    simd().panel_dot_f(x.floats(), x.indices, n, at_->w.data(), width_, u);
  for (std::size_t f = 0; f < width_; ++f) u[f] += at_->b[f] + offset_[f];
}

// Outcomes of an output, its panels, and the rows that can move.
void FoldAscent::turn_to(std::int32_t output, double lambda) {
  at_ = &outputs_[static_cast<std::size_t>(output)];
  const bool fresh = at_->w.empty();
  if (fresh) {
    at_->a = spread<double>(rows_.size() * width_);
    at_->w.assign(static_cast<std::size_t>(problem_.dimensions()) * width_, 0.0);
  }
  movable_.clear();
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    Visit& v = rows_[i];
    v.y = problem_.target(static_cast<std::int64_t>(i), output);
    if (v.weight > 0 && v.size > 0) movable_.push_back(static_cast<std::int32_t>(i));
    run_.work(16);
  }
  if (!fresh) return rescale(lambda);
  const Loss& loss = *problem_.loss;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Visit& v = rows_[i];
    for (std::size_t f = 0; f < width_; ++f)
      at_->size[f] += v.weight * loss.value(offset_[f], v.y) * unit_[static_cast<std::size_t>(v.label) * width_ + f];
    run_.work(32);
  }
}

// A smaller lambda makes the same a mean longer weights: too long ones. The multiple t·a of the best dual value on the
// parabola through its values at 0, 1/2 and 1 (solvers/sdca/warm_start.cpp), of a sample of the rows: any t is a start.
void FoldAscent::rescale(double lambda) {
  const Loss& loss = *problem_.loss;
  const std::size_t stride = std::max<std::size_t>(1, rows_.size() / 4096);
  double whole[widest_panel] = {}, half[widest_panel] = {}, norm[widest_panel] = {}, t[widest_panel] = {};
  for (std::size_t i = 0; i < rows_.size(); i += stride)
    for (std::size_t f = 0; f < static_cast<std::size_t>(count_); ++f) {
      const double a = at_->a[i * width_ + f], y = rows_[i].y;
      const double c =
          static_cast<double>(stride) * rows_[i].weight * unit_[static_cast<std::size_t>(rows_[i].label) * width_ + f];
      if (a == 0 || c == 0 || rows_[i].fold == static_cast<std::int32_t>(f)) continue;
      whole[f] -= c * (loss.conjugate(a, y) + a * offset_[f]);
      half[f] -= c * (loss.conjugate(0.5 * a, y) + 0.5 * a * offset_[f]);
    }
  add_squares(at_->w, width_, norm);
  const double constant = problem_.intercept ? problem_.intercept_scale * problem_.intercept_scale : 1.0;
  for (std::size_t f = 0; f < static_cast<std::size_t>(count_); ++f) {
    const double penalty = 0.5 * lambda_ * (lambda_ / lambda) * (norm[f] + at_->b[f] * at_->b[f] / constant);
    const double bend = 4 * half[f] - 2 * whole[f], linear = whole[f] + bend, curvature = 2 * (bend + penalty);
    t[f] = curvature > 0 ? std::clamp(linear / curvature, 0.0, 1.0) : 1.0;
    at_->b[f] *= t[f] * (lambda_ / lambda);
  }
  multiply(at_->a, width_, t);
  for (double& factor : t) factor *= lambda_ / lambda;
  multiply(at_->w, width_, t);
  run_.work(static_cast<double>(at_->w.size() + at_->a.size()));
}

// A row of zeros has the score 0 whatever the weights: its a is known and never moves.
void FoldAscent::settle_zero_rows() {
  for (std::size_t i = 0; i < rows_.size(); ++i)
    if (rows_[i].size == 0) std::fill_n(&at_->a[i * width_], width_, problem_.loss->dual_step(0, rows_[i].y, 0, 0));
}

// Visits the rows of order_, in an order of its own; returns their number. Rows that every fold can spare leave order_.
template <class L>
double FoldAscent::epoch(const L& loss) {
  constexpr std::size_t row_ahead = 6, visit_ahead = 12;
  const double threshold = violation_ > 0 ? shrink_share * violation_ : infinity;
  const double constant = problem_.intercept ? problem_.intercept_scale * problem_.intercept_scale : 0.0;
  const std::size_t n = order_.size();
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
  for (std::size_t k = 0; k < live_.size(); ++k) live_[k] *= reached_[k % width_] != 0 ? 0.0 : 1 / lambda_;
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
    dot_panel(v.x, u);
    const FoldSteps steps = step_all(loss, {u, scale, v.y, v.size, width_, threshold}, a, t, estimate_.data());
    violation_ = std::max(violation_, steps.violation);
    if (steps.moved) {
      moved_ = true;
      add_panel(t, v.x, width_, at_->w.data());
      for (std::size_t f = 0; f < width_; ++f) at_->b[f] += t[f] * constant;
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
  double losses[widest_panel] = {}, conjugates[widest_panel] = {}, products[widest_panel] = {};
  double u[widest_panel], values[widest_panel];
  order_.clear();
  const auto output = static_cast<std::size_t>(at_ - outputs_.data());
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Visit& v = rows_[i];
    const double* const a = &at_->a[i * width_];
    const double* const unit = &unit_[static_cast<std::size_t>(v.label) * width_];
    bool wanted = false;
    dot_panel(v.x, u);
    if (v.fold >= 0 && v.fold < count_) held_out_[i * outputs_.size() + output] = u[v.fold] + problem_.target_center;
    if (!(v.weight > 0)) continue;
    panel_values(loss, u, v.y, width_, values);
    for (std::size_t f = 0; f < folds; ++f) {
      if (reached_[f] != 0 || v.fold == static_cast<std::int32_t>(f)) continue;
      const double c = v.weight * unit[f];
      losses[f] += c * values[f];
      if (a[f] != 0) {
        conjugates[f] += c * (loss.conjugate(a[f], v.y) + a[f] * offset_[f]);
        products[f] += c * a[f] * (u[f] - offset_[f]);
      }
      if constexpr (detail::settles<L>()) wanted |= loss.slack(u[f], v.y, a[f]) <= threshold;
    }
    if (v.weight > 0 && v.size > 0 && (wanted || !detail::settles<L>())) order_.push_back(static_cast<std::int32_t>(i));
    run_.work(0.25 * static_cast<double>(width_) * v.x.count + 64.0);
  }
  widest_ = 0;
  double lower = 0, upper = 0;  // of the widest fold
  for (std::size_t f = 0; f < folds; ++f) {
    if (reached_[f] != 0) continue;
    // λ (‖w‖² + b²/B²) = Σ c a (<x, w> + b), since w = Σ c a x/λ and b = B² Σ c a/λ: w itself may be long.
    const double penalty = 0.5 * products[f];
    const double primal = losses[f] + penalty, dual = -conjugates[f] - penalty;
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

template <class L>
void FoldAscent::ascend(const L& loss, double epochs) {
  const auto all = static_cast<double>(std::max<std::size_t>(1, movable_.size()));
  GapSchedule schedule(all, 1.0);
  double visits = 0;
  bool full = true;  // the last epoch saw every movable row
  order_ = movable_;
  violation_ = 0;
  for (;;) {
    full &= order_.size() == movable_.size();
    visits += epoch(loss);
    double promised = 0;
    for (std::size_t f = 0; f < static_cast<std::size_t>(count_); ++f)
      if (reached_[f] == 0)
        promised = std::max(promised, target_[f] > 0 ? lambda_ * estimate_[f] / target_[f] : infinity);
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
    turn_to(o, lambda);
    settle_zero_rows();
    const double before = lambda_;
    lambda_ = lambda;
    reached_.assign(width_, 0);
    for (std::size_t f = 0; f < width_; ++f) target_[f] = 0.5 * settings_.tolerance * at_->size[f];
    visit(*problem_.loss, [&](const auto& loss) { ascend(loss, epochs); });
    for (std::size_t f = 0; f < all.size(); ++f) all[f] = all[f] != 0 && reached_[f] != 0;
    lambda_ = before;
  }
  lambda_ = lambda;
  return all;
}

const double* FoldAscent::held_out(std::int64_t i) const {
  return &held_out_[static_cast<std::size_t>(i) * outputs_.size()];
}

InitialModel FoldAscent::model(std::int32_t fold) const {
  InitialModel m;
  const auto f = static_cast<std::size_t>(fold);
  for (const Output& output : outputs_) {
    for (std::size_t k = f; k < output.w.size(); k += width_) m.weights.push_back(output.w[k]);
    m.intercept.push_back(output.b[f] + constant(f));
  }
  for (std::size_t i = 0; i < rows_.size(); ++i)
    if (rows_[i].fold != fold)
      for (const Output& output : outputs_) m.dual_weights.push_back(output.a[i * width_ + f]);
  return m;
}

}  // namespace margin
