// Newton's method for smooth losses, with a Cholesky factorisation or with conjugate gradients.
//
// Problem:  min F(w) = ½‖w‖² + Σ cost_i φ(<x_i, w>; y_i), with F = P/λ.
// Update:   w += t d, (I + Σ cost_i φ''_i x_i x_iᵀ) d = −∇F(w), t = 1 unless the decrease along d asks for less.
// Dual:     a_i = −φ'(u_i). Every Fenchel-Young gap vanishes, so P − D = λ(F − D_F) = (λ/2)‖∇F‖²: the certificate is
//           a by-product of the gradient. A free intercept is first moved to where Σ cost_i φ has its minimum, so that
//           Σ cost_i a_i = 0: the same holds of the other weights.
// Stops:    gap ≤ tolerance · max(P, |D|), or no further progress in floating point.
// Systems:  a direct solve, or conjugate gradients until what is left of the gradient is small beside what the wanted
//           gap allows (truncated Newton: Dembo, Steihaug 1983; Lin, Weng, Keerthi 2008 for these losses).
// Source:   Boyd & Vandenberghe (2004), Section 9.5; Mangasarian (2002) for losses with a piecewise linear gradient
//           (finite termination); the dual point is Shalev-Shwartz & Zhang (2013), Section 3.
#include <algorithm>
#include <cmath>
#include <memory>
#include <tuple>

#include "core/base/huge_pages.hpp"
#include "core/loss/registry.hpp"
#include "core/solvers/free_intercept.hpp"
#include "core/solvers/newton/between_bounds.hpp"
#include "core/solvers/newton/conjugate_gradients.hpp"
#include "core/solvers/newton/gram.hpp"
#include "core/solvers/newton/newton.hpp"
#include "core/solvers/newton/under_constraints.hpp"

namespace margin {

namespace {

// Of the gradient that the wanted gap allows, the share that conjugate gradients leave; and of any gradient, at most.
constexpr double end_share = 0.5, first_accuracy = 0.1, late_accuracy = 1e-8;
constexpr int usual = 30;         // steps; more say that the intercept, or a loose direction, stands in the way
constexpr double loss_work = 50;  // of φ and φ', in multiply-adds

/// φ and φ' of a block of rows, in arrays so that a loss may have a kernel for them.
struct Block {
  static constexpr std::size_t size = 1024;
  std::size_t begin = 0, count = 0;
  double score[size], value[size], slope[size];
};

template <class L>
void evaluate(const L& loss, const double* y, Block& c) {
  for (std::size_t k = 0; k < c.count; ++k) {
    c.value[k] = loss.value(c.score[k], y[k]);
    c.slope[k] = loss.derivative(c.score[k], y[k]);
  }
}
/// With one exponential; and finite, as rows of no weight count with 0 times theirs.
void evaluate(const Poisson& loss, const double* y, Block& c) {
  for (std::size_t k = 0; k < c.count; ++k) {
    c.slope[k] = loss.derivative(c.score[k], y[k]);
    c.value[k] = std::min(loss.value(c.score[k], y[k]), 1e300);
  }
}
void evaluate(const Logistic&, const double* y, Block& c) { simd().logistic(c.score, y, c.count, c.value, c.slope); }

/// The curvature at a block's scores; the logistic one follows from the slope.
template <class L>
double curvature(const L& loss, double y, double u, double /*a*/) {
  return loss.second_derivative(u, y);
}
double curvature(const Logistic&, double y, double /*u*/, double a) { return a * y * (1 - a * y); }

/// The Sum of f(block, sum) with φ and φ' at u + t du (du null: at u + t), block by block.
template <class Sum, class Function>
Sum in_blocks(const NewtonProblem& p, const double* u, const double* du, double t, Function&& f) {
  const auto n = static_cast<std::size_t>(p.rows.rows());
  const Chunks chunks(static_cast<std::int64_t>((n + Block::size - 1) / Block::size), loss_work * Block::size);
  const auto add_blocks = [&](std::int64_t begin, std::int64_t end, Sum& sum, const Progress& progress) {
    Block b;
    visit(p.loss, [&](const auto& loss) {
      const std::size_t last = std::min(n, static_cast<std::size_t>(end) * Block::size);
      for (b.begin = static_cast<std::size_t>(begin) * Block::size; b.begin < last; b.begin += Block::size) {
        b.count = std::min(Block::size, last - b.begin);
        for (std::size_t k = 0; k < b.count; ++k)
          b.score[k] = du == nullptr ? u[b.begin + k] + t : u[b.begin + k] + t * du[b.begin + k];
        evaluate(loss, p.y.data() + b.begin, b);
        f(b, sum);
        progress.work(loss_work * static_cast<double>(b.count));
      }
    });
  };
  return sum_in_chunks<Sum>(p.rows.threads(), chunks, p.rows.run().progress(), add_blocks);
}

/// F along a direction, and its derivative.
struct Line {
  double value = 0, slope = 0;
  void operator+=(const Line& o) {
    value += o.value;
    slope += o.slope;
  }
};

/// What a gradient sums up over the rows.
struct GradientSums {
  SlopeAt at;
  double value = 0;
  void operator+=(const GradientSums& o) {
    at.value += o.at.value;
    at.size += o.at.size;
    at.curvature += o.at.curvature;
    value += o.value;
  }
};

class SmoothNewton {
 public:
  SmoothNewton(const NewtonProblem& problem, NewtonPoint& point, NewtonProgress* progress)
      : p_(problem),
        w_(point.w),
        a_(point.a),
        multipliers_(point.multipliers),
        progress_(progress),
        n_(static_cast<std::size_t>(p_.rows.rows())),
        u_(spread<double>(n_)),
        du_(spread<double>(n_)),
        coefficient_(spread<double>(n_)),
        r_(w_.size()),
        d_(w_.size()),
        under_(problem.rows, multipliers_) {
    if (p_.systems == NewtonProblem::Systems::cholesky)
      dense_ = std::make_unique<Dense>(p_.rows, w_.size());
    else
      gradients_ = std::make_unique<ConjugateGradients>(p_.rows);
  }

  Status run();

 private:
  /// ‖v‖² of the columns that are penalised.
  double squared(const std::vector<double>& v) const { return p_.rows.penalized_product(v.data(), v.data()); }
  double allowed_imbalance() const;
  double best_shift(const double* u, const SlopeAt* here, double accuracy) const;
  void centre(const SlopeAt& here, double accuracy);
  template <class L>
  void add_slopes(const L& loss, const Block& c, SlopeAt& at) const;
  void gradient();
  void direction();
  void direction_between_bounds();
  double wanted() const;
  double accuracy() const;
  double step();
  /// F(w + t d) and its derivative in t; where no row curves, with the best free intercept there.
  Line along(double t);

  const NewtonProblem& p_;
  std::vector<double>&w_, &a_, &multipliers_;
  NewtonProgress* progress_;
  std::size_t n_;
  std::vector<double> u_, du_, coefficient_, r_, d_;
  UnderConstraints under_;
  struct Dense {
    Dense(const NewtonRows& rows, std::size_t size) : gram(rows), hessian(size) {}
    GramSum gram;
    SymmetricMatrix hessian;
  };
  std::unique_ptr<Dense> dense_;
  std::unique_ptr<ConjugateGradients> gradients_;
  double primal_ = 0, gap_ = 0;
  int steps_ = 0;
  bool level_ = false;  // the intercept is free, and no row curves: nothing says where the best one goes along d
  std::vector<double> there_;
  double t_shift_ = 0;  // of the intercept, at the point that along() saw last
};

// What may be left of Σ cost a, as a share of Σ cost |a|, before a free intercept is moved: balancing costs D at most about
// that share of P, where rows leave an end of the dual's domain for it.
double SmoothNewton::allowed_imbalance() const {
  constexpr double share = 0.02, first = 1e-3;
  return primal_ > 0 ? std::max(rounded_balance, std::min(first, share * wanted() / primal_)) : first;
}

// A free intercept to where its derivative, `here` at the scores as they are (null: not known), vanishes.
double SmoothNewton::best_shift(const double* u, const SlopeAt* here, double accuracy) const {
  return balanced_shift(
      [&](double t) {
        if (t == 0 && here != nullptr) return *here;
        GradientSums sums;
        visit(p_.loss, [&](const auto& loss) {
          sums = in_blocks<GradientSums>(p_, u, nullptr, t,
                                         [&](const Block& c, GradientSums& sum) { add_slopes(loss, c, sum.at); });
        });
        return sums.at;
      },
      p_.loss.classification() || p_.loss.log_link() ? 1.0 : 0.0, 0, accuracy);
}

void SmoothNewton::centre(const SlopeAt& here, double accuracy) {
  const double shift = best_shift(u_.data(), &here, accuracy);
  for (double& u : u_) u += shift;
  w_.back() += shift;
}

template <class L>
void SmoothNewton::add_slopes(const L& loss, const Block& c, SlopeAt& at) const {
  for (std::size_t k = 0; k < c.count; ++k) {
    const double cost = p_.cost[c.begin + k], y = p_.y[c.begin + k], slope = cost * c.slope[k];
    at.value += slope;
    at.size += std::fabs(slope);
    at.curvature += cost * curvature(loss, y, c.score[k], -c.slope[k]);
  }
}

// r = ∇F = w − Σ cost a x, F and the gap at the current w, whose intercept is moved first where it is free.
void SmoothNewton::gradient() {
  const bool free = p_.rows.free_intercept();
  const double accuracy = allowed_imbalance();
  GradientSums sums;
  for (bool centred = !free;; centred = true) {
    visit(p_.loss, [&](const auto& loss) {
      sums = in_blocks<GradientSums>(p_, u_.data(), nullptr, 0, [&](const Block& c, GradientSums& sum) {
        if (!centred) add_slopes(loss, c, sum.at);
        for (std::size_t k = 0; k < c.count; ++k) {
          const std::size_t i = c.begin + k;
          sum.value += p_.cost[i] * c.value[k];
          a_[i] = -c.slope[k];
          coefficient_[i] = p_.cost[i] * a_[i];
        }
      });
    });
    if (centred || std::fabs(sums.at.value) <= accuracy * sums.at.size) break;
    centre(sums.at, accuracy);
  }
  p_.rows.combine(coefficient_.data(), r_.data());
  for (std::size_t j = 0; j < w_.size(); ++j) r_[j] = (p_.rows.penalizes(j) ? w_[j] : 0.0) - r_[j];
  if (p_.rows.held() < r_.size()) r_[p_.rows.held()] = 0;  // nothing moves it
  primal_ = 0.5 * squared(w_) + sums.value;
  gap_ = under_.penalty_gap(w_, r_);
  if (!free) return;
  double size = 0;
  for (const double c : coefficient_) size += std::fabs(c);
  if (size > 0) gap_ += 2 * std::fabs(r_.back()) / size * primal_;
}

// The residual is what is left of the gradient where the Hessian does not change: as much as the wanted gap allows, and
// less of it as the model of the function becomes exact.
double SmoothNewton::accuracy() const {
  const double share = gap_ / std::fabs(primal_);
  const double enough = std::max(end_share * std::sqrt(wanted() / gap_), std::min(first_accuracy, std::sqrt(share)));
  return std::min(enough, steps_ > usual ? late_accuracy : first_accuracy);
}

/// direction() between the bounds, from the curvatures.
void SmoothNewton::direction_between_bounds() {
  if (gradients_) {
    step_between_bounds(p_.rows, *gradients_, coefficient_.data(), 1.0, w_, r_, {accuracy()}, d_);
    return;
  }
  dense_->hessian.set_zero();
  dense_->gram.add(coefficient_.data(), dense_->hessian);
  if (p_.rows.held() < w_.size()) decouple(dense_->hessian, p_.rows.held());
  step_between_bounds(p_.rows, dense_->hessian, 1.0, w_, r_, {std::sqrt(1e-3 * std::min(1.0, wanted() / gap_))}, d_);
}

void SmoothNewton::direction() {
  const Chunks chunks(static_cast<std::int64_t>(n_), 4.0);
  p_.rows.threads().run(chunks.count(), p_.rows.run().progress(), [&](std::size_t chunk, const Progress& progress) {
    const auto begin = static_cast<std::size_t>(chunks.begin(chunk)), end = static_cast<std::size_t>(chunks.end(chunk));
    visit(p_.loss, [&](const auto& loss) {
      for (std::size_t i = begin; i < end; ++i) coefficient_[i] = p_.cost[i] * curvature(loss, p_.y[i], u_[i], a_[i]);
    });
    progress.work(4.0 * static_cast<double>(end - begin));
  });
  level_ = p_.rows.free_intercept() &&
           (++steps_ > usual || std::all_of(coefficient_.begin(), coefficient_.end(), [](double c) { return c == 0; }));
  if (p_.rows.bounded() && p_.rows.constraints() == nullptr) return direction_between_bounds();
  if (gradients_) {
    gradients_->solve(coefficient_.data(), 1.0, r_, accuracy(), d_);
    return;
  }
  SymmetricMatrix& hessian = dense_->hessian;
  // Data of rank below d leaves only the identity in some directions; where that is less than the rounding of the
  // rest, a larger multiple of the diagonal is added until the factorisation exists. The direction then is a damped
  // one.
  for (double damping = 0;; damping = damping == 0 ? 1e-13 : 100 * damping) {
    hessian.set_zero();
    dense_->gram.add(coefficient_.data(), hessian);
    if (p_.rows.held() < w_.size()) decouple(hessian, p_.rows.held());
    for (std::size_t j = 0; j < w_.size(); ++j) {
      double& h = hessian.row(j)[j];
      h += (p_.rows.penalizes(j) || h == 0 ? 1 : 0) + damping * h;
    }
    if (factorise(hessian, p_.rows.run()) || damping > 1) break;
  }
  under_.step(hessian, w_, r_, d_);
}

double SmoothNewton::wanted() const {
  return progress_ != nullptr ? progress_->wanted_gap(primal_, primal_ - gap_) : 1e-3 * primal_;
}

Line SmoothNewton::along(double t) {
  // With the intercept held, the first row that comes to its curved part stops the step; the next best intercept takes it
  // back from there, and rows never meet from both sides.
  const double* from = u_.data();
  const double* change = du_.data();
  if (level_) {
    there_.resize(n_);
    for (std::size_t i = 0; i < n_; ++i) there_[i] = u_[i] + t * du_[i];
    from = there_.data();
    change = nullptr;
    t_shift_ = best_shift(from, nullptr, rounded_balance);
  }
  Line line = in_blocks<Line>(p_, from, change, level_ ? t_shift_ : t, [&](const Block& c, Line& sum) {
    for (std::size_t k = 0; k < c.count; ++k) {
      const std::size_t i = c.begin + k;
      sum.value += p_.cost[i] * c.value[k];
      sum.slope += p_.cost[i] * c.slope[k] * du_[i];
    }
  });
  const double wd = p_.rows.penalized_product(w_.data(), d_.data()), dd = squared(d_);
  line.value += 0.5 * squared(w_) + t * wd + 0.5 * t * t * dd;
  line.slope += wd + t * dd;
  return line;
}

// The whole step where the slope along d has fallen to half there (a Newton step near the optimum makes it vanish),
// otherwise a point further on or nearer where it has, by secants inside a bracket. Where the loss is linear the
// Hessian knows nothing of the kinks ahead, and the right step can be far from 1 in both directions.
double SmoothNewton::step() {
  const double slope = simd().dot_dd(r_.data(), d_.data(), r_.size()), noise = 1e-14 * std::fabs(primal_);
  double low = 0, low_slope = slope, high = -1, t = 1;
  for (int i = 0; i < 60; ++i) {
    const Line line = along(t);
    if (std::fabs(line.slope) <= 0.5 * std::fabs(slope) && (line.slope <= 0 || line.value <= primal_ + noise)) return t;
    if (std::fabs(line.slope * t) <= noise) return t;
    // Between bounds and under constraints the whole step is the longest.
    if (p_.rows.confined() && t >= 1 && line.slope <= 0) return 1;
    double next;
    if (line.slope <= 0) {
      next = line.slope > low_slope ? t + (t - low) * line.slope / (low_slope - line.slope) : 8 * t;
      low = t;
      low_slope = line.slope;
    } else {
      next = low + (t - low) * low_slope / (low_slope - line.slope);
      high = t;
    }
    if (high < 0)
      t = std::clamp(next, 2 * t, 8 * t);
    else if (i % 3 == 2 && low < high / 4)  // secants of a bent slope leave one end where it is
      t = low > 0 ? std::sqrt(low * high) : high / 16;
    else
      t = std::clamp(next, low + 0.1 * (high - low), high - 0.1 * (high - low));
  }
  return low > 0 ? low : t;
}

Status SmoothNewton::run() {
  Status why = Status::iteration_limit;
  auto best = std::make_pair(w_, multipliers_);
  double best_gap = -1, last = 0;
  int idle = 0;
  p_.rows.scores(w_.data(), u_.data());
  for (int iteration = 0;; ++iteration) {
    gradient();
    if (progress_ != nullptr) {
      progress_->record(primal_, primal_ - gap_);
      if (progress_->reached(primal_, primal_ - gap_)) return Status::optimal;
      if (progress_->exhausted(why)) break;
    } else if (gap_ <= wanted() || iteration >= 20) {
      return Status::optimal;
    }
    // Progress is a smaller F until rounding hides its changes, then a smaller gap.
    idle = iteration == 0 || primal_ < last - 1e-13 * std::fabs(last) || gap_ < 0.9 * best_gap ? 0 : idle + 1;
    last = primal_;
    if (best_gap < 0 || gap_ < best_gap) {
      best_gap = gap_;
      best = {w_, multipliers_};
    }
    if (idle >= 4 || !std::isfinite(gap_)) break;
    direction();
    p_.rows.scores(d_.data(), du_.data());
    const double t = step();
    for (std::size_t j = 0; j < w_.size(); ++j) w_[j] += t * d_[j];
    p_.rows.clip(w_);  // what a rounding leaves outside
    const Chunks chunks(static_cast<std::int64_t>(n_), 2.0);
    p_.rows.threads().run(chunks.count(), p_.rows.run().progress(), [&](std::size_t chunk, const Progress&) {
      const auto end = static_cast<std::size_t>(chunks.end(chunk));
      for (auto i = static_cast<std::size_t>(chunks.begin(chunk)); i < end; ++i) u_[i] += t * du_[i];
    });
  }
  if (!(gap_ <= best_gap)) {
    std::tie(w_, multipliers_) = best;
    p_.rows.scores(w_.data(), u_.data());
    gradient();
  }
  return why;
}

}  // namespace

Status newton_smooth(const NewtonProblem& problem, NewtonPoint& point, NewtonProgress* progress) {
  return SmoothNewton(problem, point, progress).run();
}

}  // namespace margin
