// Augmented Lagrangian with a semismooth Newton method inside, for piecewise linear losses.
//
// Problem:  min ½‖w‖² − <fixed, w> + Σ cost_i φ(<x_i, w>; y_i), φ(u) = max over a in a box of a (y − u) − ε|a|.
// Outer:    a_old <- a, κ <- 5κ: the proximal point method on the dual, of which the primal face is
// Inner:    min over w of L(w) = ½‖w‖² − <fixed, w> + Σ cost_i max_a {a (y − u_i) − ε|a| − (a − a_old)²/(2κ)},
//           once differentiable, ∇L = w − fixed − Σ cost_i a_i x_i with a_i the maximiser: the dual point itself,
//           feasible at every step. Newton: (I + κ Σ_free cost_i x_i x_iᵀ) d = −∇L over the rows whose a_i is not at
//           a kink, then an exact search along d (L is piecewise quadratic there).
// Stops:    inner when the part of the gap that it can remove, ½‖∇L‖², is small beside the rest, the Fenchel-Young
//           gaps Σ cost_i (φ(u_i) + φ*(−a_i) + a_i u_i), which only new multipliers remove; outer at the wanted gap.
// Source:   Rockafellar (1976); Li, Sun & Toh (2018) for semismooth Newton inside; the gap as stopping rule is ours.
#include "core/solvers/newton/augmented_lagrangian.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/huge_pages.hpp"
#include "core/solvers/free_intercept.hpp"
#include "core/solvers/newton/between_bounds.hpp"

namespace margin {

namespace {

constexpr double kappa_growth = 5, careful_growth = 2.5;
// An inner problem that takes more steps than this is too sharp for its multipliers: it is left for a smoother one.
constexpr int inner_limit = 30, retreat_limit = 20;
constexpr double retreat = 25;
constexpr BoxEffort box_effort = {0.03, paying_products};  // of steps between bounds: a thousandth of the gap
// Of the gap, the share that the inner problem may leave beside what only new multipliers remove.
constexpr double inner_share = 0.2;
constexpr double refresh_share = 0.5;
// Conjugate gradients take more products the sharper the system is: while the gap falls without, κ grows by less. Before
// the rows that move freely are known, directions that leave this share of the residual do.
constexpr double cg_growth = 1.5, cg_accuracy = 0.2;
constexpr BoxEffort cg_box_effort = {cg_accuracy, paying_products};

double whole_product(const std::vector<double>& v, const std::vector<double>& w) {
  return simd().dot_dd(v.data(), w.data(), v.size());
}

/// The rows from `begin` to before `end`.
BoxRows some(BoxRows x, std::size_t begin, std::size_t end) {
  x.count = end - begin;
  for (const double** p : {&x.u, &x.du, &x.y, &x.cost, &x.a_old}) *p += begin;
  return x;
}

/// What the loops over rows give: two sums.
struct TwoSums {
  double first = 0, second = 0;
  void operator+=(const TwoSums& o) {
    first += o.first;
    second += o.second;
  }
};

/// The slope and the curvature of the rows' part of L along d.
TwoSums box_line(const NewtonRows& rows, const BoxRows& x, double t) {
  constexpr double work = 6;
  return sum_in_chunks<TwoSums>(rows.threads(), Chunks(static_cast<std::int64_t>(x.count), work), rows.run().progress(),
                                [&](std::int64_t begin, std::int64_t end, TwoSums& sum, const Progress& progress) {
                                  const BoxRows part =
                                      some(x, static_cast<std::size_t>(begin), static_cast<std::size_t>(end));
                                  simd().box_line(part, t, &sum.first, &sum.second);
                                  progress.work(work * static_cast<double>(part.count));
                                });
}

/// The maximisers and which of them move freely; the sums of the loss and of its conjugate.
TwoSums box_point(const NewtonRows& rows, const BoxRows& x, double* a, double* free) {
  constexpr double work = 8;
  return sum_in_chunks<TwoSums>(rows.threads(), Chunks(static_cast<std::int64_t>(x.count), work), rows.run().progress(),
                                [&](std::int64_t begin, std::int64_t end, TwoSums& sum, const Progress& progress) {
                                  const auto at = static_cast<std::size_t>(begin);
                                  const BoxRows part = some(x, at, static_cast<std::size_t>(end));
                                  simd().box_point(part, a + at, free + at, &sum.first, &sum.second);
                                  progress.work(work * static_cast<double>(part.count));
                                });
}

}  // namespace

// Both ends of the dual's domain are linear in y for every loss of this form; two outcomes tell the line.
BoxLoss::BoxLoss(const Loss& loss) {
  const double up = loss.project(1e300, 1), down = loss.project(-1e300, 1);
  const double other_up = loss.project(1e300, -1), other_down = loss.project(-1e300, -1);
  low0 = 0.5 * (down + other_down);
  low1 = 0.5 * (down - other_down);
  high0 = 0.5 * (up + other_up);
  high1 = 0.5 * (up - other_up);
  epsilon = loss.classification() ? 0.0 : loss.conjugate(up, 0) / up;
}

double residual_scale(const NewtonProblem& problem, const std::vector<double>& u) {
  if (problem.loss.classification()) return 1;
  double sum = 0, mass = 0;
  for (std::size_t i = 0; i < u.size(); ++i) {
    sum += problem.cost[i] * std::fabs(problem.y[i] - u[i]);
    mass += problem.cost[i];
  }
  return sum > 0 ? sum / mass : 1;
}

AugmentedLagrangian::AugmentedLagrangian(const NewtonProblem& part, const BoxLoss& box, std::vector<double> fixed)
    : w(fixed.size(), 0.0),
      a(spread<double>(part.y.size())),
      u(spread<double>(part.y.size())),
      p_(part),
      under_(part.rows, multipliers),
      box_(box),
      fixed_(std::move(fixed)),
      a_old_(spread<double>(part.y.size())),
      du_(spread<double>(part.y.size())),
      free_(spread<double>(part.y.size())),
      gram_free_(spread<double>(part.y.size())),
      v_(w.size()),
      r_(w.size()),
      d_(w.size()) {
  if (p_.systems == NewtonProblem::Systems::cholesky)
    dense_ = std::make_unique<Dense>(p_.rows, w.size());
  else
    gradients_ = std::make_unique<ConjugateGradients>(p_.rows);
}

double AugmentedLagrangian::inner_product(const std::vector<double>& v, const std::vector<double>& w) const {
  return p_.rows.penalized_product(v.data(), w.data());
}

double AugmentedLagrangian::norm_w() const { return inner_product(w, w); }

BoxRows AugmentedLagrangian::rows(double proximal) const {
  return {u.size(),  u.data(),  du_.data(), p_.y.data(), p_.cost.data(), a_old_.data(),
          box_.low0, box_.low1, box_.high0, box_.high1,  box_.epsilon,   proximal};
}

// A free intercept to where L's derivative in it, −(fixed + Σ cost a), vanishes.
void AugmentedLagrangian::centre() {
  std::fill(du_.begin(), du_.end(), 1.0);
  const BoxRows x = rows(kappa);
  double mass = std::fabs(fixed_.back());
  for (const double c : p_.cost) mass += c;
  const double shift = balanced_shift(
      [&](double t) {
        SlopeAt at;
        const TwoSums line = box_line(p_.rows, x, t);
        at.curvature = line.second;
        at.value = -fixed_.back() - line.first;
        at.size = mass;
        return at;
      },
      1 / kappa, 0);
  if (shift == 0) return;
  for (double& v : u) v += shift;
  w.back() += shift;
}

// κ magnifies what the scores are rounded by, so that no intercept balances the maximisers to more digits than κ leaves:
// those that move freely take up the rest.
void AugmentedLagrangian::settle(std::vector<double>& next) {
  double off = fixed_.back(), free = 0;
  for (std::size_t i = 0; i < next.size(); ++i) {
    off += p_.cost[i] * next[i];
    free += free_[i];
  }
  if (off == 0 || !(free > 0)) return;
  const double move = -off / free;
  for (std::size_t i = 0; i < next.size(); ++i) {
    if (free_[i] == 0) continue;
    const double y = p_.y[i], moved = std::clamp(next[i] + move, box_.low(y), box_.high(y));
    conjugate_ += p_.cost[i] * (box_.epsilon * (std::fabs(moved) - std::fabs(next[i])) - y * (moved - next[i]));
    next[i] = moved;
  }
  p_.rows.run().work(8.0 * static_cast<double>(next.size()));
}

// The maximisers a at the current scores, v = fixed + Σ cost a x, and the two parts of the gap. v follows the rows
// whose a has changed; `fresh` sums it anew, which also forgets the rounding of the steps before.
void AugmentedLagrangian::evaluate(bool fresh) {
  if (p_.rows.free_intercept()) centre();
  const std::size_t n = u.size();
  std::vector<double> next(n);
  const TwoSums sums = box_point(p_.rows, rows(kappa), next.data(), free_.data());
  loss_ = sums.first;
  conjugate_ = sums.second;
  if (p_.rows.free_intercept()) settle(next);
  std::vector<std::int64_t> changed;
  std::vector<double> change;
  if (!fresh)
    for (std::size_t i = 0; i < n; ++i)
      if (next[i] != a[i]) {
        changed.push_back(static_cast<std::int64_t>(i));
        change.push_back(p_.cost[i] * (next[i] - a[i]));
      }
  a.swap(next);
  if (fresh || static_cast<double>(changed.size()) > refresh_share * static_cast<double>(n)) {
    for (std::size_t i = 0; i < n; ++i) next[i] = p_.cost[i] * a[i];
    p_.rows.combine(next.data(), v_.data());
    for (std::size_t j = 0; j < w.size(); ++j) v_[j] += fixed_[j];
  } else {
    p_.rows.add(changed, change, v_.data());
  }
  residual_ = excess_ = norm_v_ = 0;
  for (std::size_t j = 0; j < w.size(); ++j) {
    excess_ += (v_[j] - fixed_[j]) * w[j];
    r_[j] = (j < p_.rows.penalized() ? w[j] : 0.0) - v_[j];
    if (j == p_.rows.penalized()) continue;
    if (j == p_.rows.held()) {  // the dual has w v of it in place of v²/2
      r_[j] = 0;
      norm_v_ += 2 * w[j] * v_[j];
      continue;
    }
    residual_ += r_[j] * r_[j];
    norm_v_ += v_[j] * v_[j];
  }
  if (p_.rows.confined()) {
    residual_ = 2 * under_.penalty_gap(w, r_);
    norm_v_ = 2 * under_.conjugate_penalty(v_);
    if (const std::size_t held = p_.rows.held(); held < w.size()) norm_v_ += 2 * w[held] * v_[held];
  }
  // Every row's share is ≥ 0; the sum may fall below by rounding.
  excess_ = std::max(0.0, excess_ + loss_ + conjugate_);
}

bool AugmentedLagrangian::direction() {
  if (dense_) return factored();
  if (p_.rows.bounded())
    step_between_bounds(p_.rows, *gradients_, free_.data(), kappa, w, r_, cg_box_effort, d_);
  else
    gradients_->solve(free_.data(), kappa, r_, cg_accuracy, d_);
  return true;
}

// Σ_free cost x xᵀ from the last one where fewer rows came or went than are free.
bool AugmentedLagrangian::factored() {
  SymmetricMatrix &gram = dense_->gram, &factor = dense_->factor;
  std::vector<std::int64_t> come, gone;
  std::size_t free = 0;
  for (std::size_t i = 0; i < u.size(); ++i) {
    free += free_[i] != 0;
    if (free_[i] != 0 && gram_free_[i] == 0) come.push_back(static_cast<std::int64_t>(i));
    if (free_[i] == 0 && gram_free_[i] != 0) gone.push_back(static_cast<std::int64_t>(i));
  }
  if (!dense_->known || come.size() + gone.size() > free) {
    gram.set_zero();
    dense_->sum.add(free_.data(), gram);
    dense_->known = true;
  } else {
    dense_->sum.add(come, p_.cost.data(), 1.0, gram);
    dense_->sum.add(gone, p_.cost.data(), -1.0, gram);
  }
  gram_free_ = free_;
  if (p_.rows.bounded() && p_.rows.constraints() == nullptr) {
    factor = gram;
    if (p_.rows.held() < w.size()) decouple(factor, p_.rows.held());
    step_between_bounds(p_.rows, factor, kappa, w, r_, box_effort, d_);
    return true;
  }
  for (double damping = 0; damping < 1; damping = damping == 0 ? 1e-14 : 100 * damping) {
    for (std::size_t j = 0; j < w.size(); ++j) {
      const double* from = gram.row(j);
      double* to = factor.row(j);
      for (std::size_t k = j; k < w.size(); ++k) to[k] = kappa * from[k];
      to[j] += (p_.rows.penalizes(j) || to[j] == 0 ? 1 : 0) + damping * to[j];
    }
    p_.rows.run().work(0.5 * static_cast<double>(w.size() * w.size()));
    if (p_.rows.held() < w.size()) decouple(factor, p_.rows.held());
    if (!factorise(factor, p_.rows.run())) continue;
    under_.step(factor, w, r_, d_);
    return true;
  }
  return false;
}

// The root of L's slope along d, which is increasing and piecewise linear: Newton steps on it inside a bracket.
void AugmentedLagrangian::line_search() {
  const double wd = inner_product(w, d_) - whole_product(fixed_, d_), dd = inner_product(d_, d_);
  const double start = whole_product(r_, d_);
  const BoxRows x = rows(kappa);
  double low = 0, high = -1, t = 1;
  for (int i = 0; i < 40; ++i) {
    const TwoSums line = box_line(p_.rows, x, t);
    const double slope = wd + t * dd - line.first, curvature = line.second + dd;
    if (std::fabs(slope) <= 0.05 * std::fabs(start)) break;
    // Between bounds and under constraints the whole step is the longest.
    if (p_.rows.confined() && t >= 1 && slope < 0) break;
    (slope < 0 ? low : high) = t;
    double next = t - slope / curvature;
    if (high < 0)
      next = std::min(next, 8 * t);
    else if (!(next > low && next < high))
      next = 0.5 * (low + high);
    if (next == t) break;
    t = next;
  }
  for (std::size_t j = 0; j < w.size(); ++j) w[j] += t * d_[j];
  p_.rows.clip(w);  // what a rounding leaves outside
  simd().axpy_d(t, du_.data(), u.data(), u.size());
}

bool AugmentedLagrangian::solve(double wanted, int steps, double known_primal, double fixed_dual,
                                NewtonProgress* progress) {
  std::vector<double> best_w, best_a, best_u, best_multipliers;
  double best = -1;
  int idle = 0, retreats = 0;
  double growth = kappa_growth;
  Status why;
  a_old_ = a;
  for (;;) {
    bool stopped = false, converged = false;
    for (int inner = 0; inner < inner_limit; ++inner) {
      evaluate(inner == 0);
      if (progress != nullptr) {
        progress->record(known_primal, dual() + fixed_dual);
        stopped = progress->exhausted(why);
      }
      stopped |= --steps < 0;
      if (gap() <= wanted) {
        evaluate(true);
        if (gap() <= wanted) return true;
      }
      converged = 0.5 * residual_ <= inner_share * excess_;
      if (stopped || converged || !direction()) break;
      p_.rows.scores(d_.data(), du_.data());
      line_search();
    }
    if (!stopped && !converged && retreats < retreat_limit) {
      ++retreats;
      growth = careful_growth;
      kappa /= retreat;
      continue;
    }
    const bool falls = best < 0 || gap() < 0.7 * best;
    idle = falls ? 0 : idle + 1;
    if (best < 0 || gap() < best) {
      best = gap();
      best_w = w;
      best_a = a;
      best_u = u;
      best_multipliers = multipliers;
    }
    if (stopped || idle >= 8) break;
    a_old_ = a;
    kappa = std::min(kappa * (falls && dense_ == nullptr ? cg_growth : growth), largest_kappa);
  }
  // The best point of the outer iterations; its proximal term is gone, so that evaluate() reproduces its a.
  w = best_w;
  u = best_u;
  a = best_a;
  multipliers = best_multipliers;
  return false;
}

}  // namespace margin
