// Piecewise linear losses in rounds: rows far from a kink of the loss are held at their end of the dual's domain, the
// augmented Lagrangian solves for the others, and a pass over all rows certifies or finds those that were held wrongly.
//
// On the pieces where the held rows lie, their loss is linear in w: Σ cost_i φ(u_i) = const − <fixed, w>, fixed =
// Σ cost_i a_i x_i. So the reduced problem is exact as long as they stay there, and the gap of the whole is the gap of
// the part plus the Fenchel-Young gaps of the held rows that left. The set of rows solved for only grows after the
// second round, hence the rounds end. Near the solution only about d rows lie at the kink, so few are undecided.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/huge_pages.hpp"
#include "core/solvers/free_intercept.hpp"
#include "core/solvers/newton/augmented_lagrangian.hpp"

namespace margin {

namespace {

constexpr double first_kappa = 0.4;
// How well the sample is solved, relative to P(0): about its statistical error.
constexpr double sample_gap = 1e-3;
// Rows to solve for, as a share of all rows, of the undecided ones, and of the columns.
// The first share is smaller when a previous model tells where the kinks will be, or a large sample: its scores err by
// about the square root of columns / rows of the sample, and so does the share of rows whose side of a kink is open.
constexpr double row_share = 0.2, known_share = 0.05, undecided_share = 3, column_share = 10;
constexpr double sample_share = 4, least_share = 0.01;
// From so many rows on, how far the nearest ones are from a kink is taken from one of each 16.
constexpr std::size_t many_rows = 131072;
constexpr std::int64_t kink_stride = 16;
// Steps that a part may take before all rows are looked at again; what a round leaves of the gap.
constexpr int steps_of_a_part = 25, unlimited = std::numeric_limits<int>::max();
constexpr double gap_share = 0.02;
// About the gap at the solution of a sample, as a share of P: what the first round starts from.
constexpr double sampled_gap = 0.01;
// What a free intercept needs of the rows solved for beyond the weight of the held ones, as a share of their own.
constexpr double balance_share = 0.02;
constexpr int rounds_of_a_sample = 20;
// The width of the first smoothing, as a share of the distance to the nearest row that is held. Where none is held,
// conjugate gradients start with the widest: sharp systems cost them more than steps do.
constexpr double first_width = 0.2;
// Of the gap that is wanted, what a round over some rows, or over all, is solved to.
constexpr double wanted_of_some = 0.5, wanted_of_all = 0.95;

class Rounds {
 public:
  /// `progress` null: a sample for a start, which is solved to about its statistical error.
  Rounds(const NewtonProblem& problem, NewtonPoint& point, NewtonProgress* progress)
      : p_(problem),
        box_(problem.loss),
        w_(point.w),
        a_(point.a),
        multipliers_(point.multipliers),
        known_(point.known),
        progress_(progress),
        n_(problem.y.size()),
        u_(spread<double>(n_)),
        scratch_(spread<double>(n_)),
        solved_(n_, 1) {}

  Status run();

 private:
  /// Where a score lies on a row's loss: the a of its piece, and the distance to the nearest kink. For a chunk of rows by
  /// value, so that its loops keep what they need in registers; by arithmetic in place of choices, which the data makes
  /// too evenly to be foreseen: a wrong guess takes longer than a row.
  struct Pieces {
    double a(std::size_t i) const {
      const double r = y[i] - u[i];
      return one_if(r > box.epsilon) * box.high(y[i]) + one_if(r < -box.epsilon) * box.low(y[i]);
    }
    double distance(std::size_t i) const {
      constexpr double none = 1e300;
      const double r = y[i] - u[i], to_high = std::fabs(r - box.epsilon), to_low = std::fabs(r + box.epsilon);
      return std::min(to_high + none * one_if(!(box.high(y[i]) > 0)), to_low + none * one_if(!(box.low(y[i]) < 0)));
    }
    /// φ(u): one of the two sides is 0.
    double loss(std::size_t i) const {
      const double r = y[i] - u[i], above = r - box.epsilon, below = r + box.epsilon;
      return 0.5 * (box.high(y[i]) * (above + std::fabs(above)) + box.low(y[i]) * (below - std::fabs(below)));
    }
    static double one_if(bool is) { return static_cast<double>(is); }

    const BoxLoss box;
    const double *y, *u;
  };
  Pieces pieces() const { return {box_, p_.y.data(), u_.data()}; }
  enum class Ending { done, better, worse, stuck };
  Ending round();
  bool start();
  bool certified();
  void record(double primal, double dual) const {
    if (progress_ != nullptr) progress_->record(primal, dual);
  }
  bool reached(double primal, double dual) const { return primal - dual <= wanted(primal, dual); }
  double wanted(double primal, double dual) const {
    return progress_ != nullptr ? progress_->wanted_gap(primal, dual) : sample_gap * primal;
  }
  double choose(bool grow_only);
  bool outweighed() const;
  void soften();
  void open();
  void sharpen(double reach);
  double primal() const;
  double scale() const { return residual_scale(p_, u_); }
  /// f(i) for every row, on the threads of the passes; `work`: that of one row. Each chunk has a copy of f.
  template <class Function>
  void for_rows(double work, const Function& function) {
    const Chunks chunks(static_cast<std::int64_t>(n_), work);
    p_.rows.threads().run(chunks.count(), p_.rows.run().progress(), [&](std::size_t chunk, const Progress& progress) {
      const auto begin = static_cast<std::size_t>(chunks.begin(chunk)),
                 end = static_cast<std::size_t>(chunks.end(chunk));
      const Function f = function;
      for (std::size_t i = begin; i < end; ++i) f(i);
      progress.work(work * static_cast<double>(end - begin));
    });
  }
  /// Σ f(i), in the same way.
  template <class Function>
  double sum_over_rows(double work, const Function& function) const {
    const auto add_rows = [&](std::int64_t begin, std::int64_t end, double& total, const Progress& progress) {
      const Function f = function;
      double sum = total;
      for (std::int64_t i = begin; i < end; ++i) sum += f(static_cast<std::size_t>(i));
      total = sum;
      progress.work(work * static_cast<double>(end - begin));
    };
    return sum_in_chunks<double>(p_.rows.threads(), Chunks(static_cast<std::int64_t>(n_), work),
                                 p_.rows.run().progress(), add_rows);
  }

  const NewtonProblem& p_;
  const BoxLoss box_;
  std::vector<double>&w_, &a_, &multipliers_;
  NewtonPoint::Known known_;
  NewtonProgress* progress_;
  std::size_t n_;
  std::vector<double> u_, scratch_;
  std::vector<char> solved_;  // rows that the next round solves for
  double kappa_ = 0, share_ = row_share;
  bool sampled_ = false;         // w_ comes from a sample
  bool known_dual_ = false;      // a_ comes from a model or an accepted round
  double primal_ = 0, gap_ = 0;  // of w_ over all rows; the gap of the last accepted round
};

double Rounds::primal() const {
  const double sum =
      sum_over_rows(8, [at = pieces(), cost = p_.cost.data()](std::size_t i) { return cost[i] * at.loss(i); });
  return 0.5 * p_.rows.penalized_product(w_.data(), w_.data()) + sum;
}

// A point to start from: a previous model, the solution of a sample, or nothing. False when it needs no more work.
bool Rounds::start() {
  // All scores are 0 as they are.
  if (std::any_of(w_.begin(), w_.end(), [](double v) { return v != 0; })) p_.rows.scores(w_.data(), u_.data());
  kappa_ = first_kappa / scale();
  if (known_ == NewtonPoint::Known::both) {
    if (certified()) return false;
    share_ = known_share;
    known_dual_ = true;
    sharpen(choose(false));
    return true;
  }
  if (known_ == NewtonPoint::Known::nothing) {
    const RowSample sample(p_);
    if (sample.which.empty()) {
      soften();
      return true;
    }
    NewtonPoint point{w_, std::vector<double>(sample.which.size()), NewtonPoint::Known::nothing};
    Rounds(NewtonProblem(p_, sample.which, static_cast<double>(sample.stride)), point, nullptr).run();
    w_ = point.w;
    multipliers_ = point.multipliers;
    p_.rows.scores(w_.data(), u_.data());
    sampled_ = true;
    const auto columns = static_cast<double>(w_.size()), rows = static_cast<double>(sample.which.size());
    share_ = std::clamp(sample_share * std::sqrt(columns / rows), least_share, row_share);
  }
  open();
  return true;
}

// Rows, multipliers and proximal weight of the next round where only w is known.
void Rounds::open() {
  for_rows(8, [at = pieces(), a = a_.data()](std::size_t i) { a[i] = at.a(i); });
  const double reach = choose(false);
  soften();
  sharpen(reach);
}

// A smoothing no wider than a share of `reach`, the distance to the nearest held row.
void Rounds::sharpen(double reach) {
  kappa_ = std::max(first_kappa / scale(), 1 / (first_width * std::max(reach, 1e-6 * scale())));
}

// The gap of w and a as they stand, from all rows.
bool Rounds::certified() {
  std::vector<double> coefficient(n_), v(w_.size());
  double dual = 0;
  for (std::size_t i = 0; i < n_; ++i) a_[i] = std::clamp(a_[i], box_.low(p_.y[i]), box_.high(p_.y[i]));
  if (p_.rows.free_intercept()) balance(p_.cost, a_);
  for (std::size_t i = 0; i < n_; ++i) {
    coefficient[i] = p_.cost[i] * a_[i];
    dual -= p_.cost[i] * (box_.epsilon * std::fabs(a_[i]) - a_[i] * p_.y[i]);
  }
  p_.rows.combine(coefficient.data(), v.data());
  dual -= UnderConstraints(p_.rows, multipliers_).conjugate_penalty(v);
  if (const std::size_t held = p_.rows.held(); held < v.size()) dual -= w_[held] * v[held];
  primal_ = primal();
  gap_ = primal_ - dual;
  record(primal_, dual);
  return reached(primal_, dual);
}

// Rows that nothing is known about start in the middle of their jump: the first augmented Lagrangian then is a smoothed
// loss of width 1/κ, on which every row near the kink counts.
void Rounds::soften() {
  for_rows(4, [&](std::size_t i) {
    if (solved_[i] == 0) return;
    const double y = p_.y[i], low = box_.low(y), high = box_.high(y);
    a_[i] = box_.epsilon > 0 ? 0.5 * (y > u_[i] ? high : low) : 0.5 * (low + high);
  });
}

// Rows are settled when their a is that of their piece and the nearest kink is beyond a distance chosen for a
// workable number of unsettled ones, which is returned.
double Rounds::choose(bool grow_only) {
  std::vector<double>&distance = scratch_, sorted;
  const double undecided = sum_over_rows(10, [at = pieces(), a = a_.data(), to = distance.data()](std::size_t i) {
    const double beyond = at.distance(i), d = at.a(i) == a[i] ? beyond : 0.0;
    to[i] = d;
    return d == 0 ? 1.0 : 0.0;
  });
  const auto all = static_cast<double>(n_);
  const double wanted =
      std::max({share_ * all, undecided_share * undecided, column_share * static_cast<double>(w_.size())});
  if (wanted >= 0.5 * all) {
    std::fill(solved_.begin(), solved_.end(), 1);
    return p_.systems == NewtonProblem::Systems::cholesky ? scale() : std::numeric_limits<double>::infinity();
  }
  const std::int64_t stride = n_ >= many_rows ? kink_stride : 1;
  if (stride == 1)
    sorted = distance;
  else
    for_one_of_each(stride, static_cast<std::int64_t>(n_),
                    [&](std::int64_t i) { sorted.push_back(distance[static_cast<std::size_t>(i)]); });
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(wanted / static_cast<double>(stride));
  std::nth_element(sorted.begin(), middle, sorted.end());
  const double farthest = *middle;
  p_.rows.run().work(10 * static_cast<double>(sorted.size()));
  for_rows(2, [&](std::size_t i) {
    if (distance[i] <= farthest)
      solved_[i] = 1;
    else if (!grow_only)
      solved_[i] = 0;
  });
  return farthest;
}

// Whether a free intercept finds its balance among the rows that are solved for, whatever the held ones weigh.
bool Rounds::outweighed() const {
  if (!p_.rows.free_intercept()) return true;
  double held = 0, lowest = 0, highest = 0;
  for (std::size_t i = 0; i < n_; ++i) {
    if (solved_[i] == 0) {
      held += p_.cost[i] * a_[i];
      continue;
    }
    lowest += p_.cost[i] * box_.low(p_.y[i]);
    highest += p_.cost[i] * box_.high(p_.y[i]);
  }
  p_.rows.run().work(4.0 * static_cast<double>(n_));
  const double spare = balance_share * (highest - lowest);
  return held + lowest < -spare && held + highest > spare;
}

// One round: solve for the chosen rows with the others held, then look at all rows.
Rounds::Ending Rounds::round() {
  if (!outweighed()) std::fill(solved_.begin(), solved_.end(), 1);
  std::vector<std::int64_t> which;
  std::vector<double>&held = scratch_, fixed(w_.size(), 0.0);
  const double held_dual = -sum_over_rows(6, [&](std::size_t i) {
    held[i] = solved_[i] != 0 ? 0.0 : p_.cost[i] * a_[i];
    return solved_[i] != 0 ? 0.0 : p_.cost[i] * (box_.epsilon * std::fabs(a_[i]) - a_[i] * p_.y[i]);
  });
  for (std::size_t i = 0; i < n_; ++i)
    if (solved_[i] != 0) which.push_back(static_cast<std::int64_t>(i));
  p_.rows.run().work(static_cast<double>(n_));
  const bool all = which.size() == n_;
  const double allowed = (all ? wanted_of_all : wanted_of_some) * wanted(primal_, primal_);
  if (!all) p_.rows.combine(held.data(), fixed.data());
  const NewtonProblem part(p_, which, 1.0);
  AugmentedLagrangian lagrangian(part, box_, std::move(fixed));
  lagrangian.kappa = kappa_;
  lagrangian.largest_kappa /= scale();
  lagrangian.w = w_;
  if (!multipliers_.empty()) lagrangian.multipliers = multipliers_;
  for (std::size_t k = 0; k < which.size(); ++k) {
    lagrangian.a[k] = a_[static_cast<std::size_t>(which[k])];
    lagrangian.u[k] = u_[static_cast<std::size_t>(which[k])];
  }
  const bool solved = lagrangian.solve(progress_ != nullptr ? std::max(allowed, gap_share * gap_) : allowed,
                                       all ? unlimited : steps_of_a_part, primal_, held_dual, progress_);

  // The part knows nothing of the kinks of the held rows: where too few rows were solved for, w can run away.
  const std::vector<double> w_before = w_;
  const double primal_before = primal_;
  w_ = lagrangian.w;
  p_.rows.scores(w_.data(), u_.data());
  primal_ = primal();
  const double dual = lagrangian.dual() + held_dual, gap = primal_ - dual;
  const bool better = primal_ <= primal_before || gap < 0.5 * gap_;
  record(primal_, dual);
  if (better || all) {
    for (std::size_t k = 0; k < which.size(); ++k) a_[static_cast<std::size_t>(which[k])] = lagrangian.a[k];
    kappa_ = lagrangian.kappa;
    multipliers_ = lagrangian.multipliers;
    known_dual_ = true;
    gap_ = gap;
    if (reached(primal_, dual)) return Ending::done;
    return all && !solved ? Ending::stuck : Ending::better;
  }
  w_ = w_before;
  p_.rows.scores(w_.data(), u_.data());
  primal_ = primal_before;
  return Ending::worse;
}

Status Rounds::run() {
  if (!start()) return Status::optimal;
  if (known_ != NewtonPoint::Known::both) {
    primal_ = primal();
    gap_ = sampled_ ? sampled_gap * primal_ : primal_;
  }
  for (int count = 0;; ++count) {
    const Ending ending = round();
    if (ending == Ending::done) return Status::optimal;
    Status why = Status::iteration_limit;
    if (progress_ != nullptr ? progress_->exhausted(why) : count >= rounds_of_a_sample) return why;
    if (ending == Ending::stuck) return Status::iteration_limit;
    if (ending == Ending::worse) share_ *= 2;
    if (known_dual_)
      choose(count > 0);
    else
      open();
  }
}

}  // namespace

Status newton_piecewise(const NewtonProblem& problem, NewtonPoint& point, NewtonProgress& progress) {
  return Rounds(problem, point, &progress).run();
}

}  // namespace margin
