// interior_point: what `auto` goes on with after sdca where an l1 norm meets a piecewise linear loss, prox_newton with one nearly so.
//
// Problem    min P(w, b) of certificate/risk.hpp for a loss φ(u) = max a (t − u) − γa²/2 over a in [low, high], or two of
//            these (epsilon_insensitive: one on either side of the tube), and 0 < l1_ratio: a quadratic program, with
//            w = w⁺ − w⁻ and the residual t − u = p − q + γa. Its multipliers α = c a/W are a dual vector.
// Update     Mehrotra's predictor and corrector; everything but the features and the intercept is eliminated, which
//            leaves one Cholesky factor of Σ θ_i x_i x_iᵀ plus a diagonal a step, whatever lambda and the data are.
// Stop       gap ≤ tolerance · max(P, |D|), or no further progress in floating point.
// Source     Mehrotra (1992), On the implementation of a primal-dual interior point method; Wright (1997), Primal-dual
//            interior-point methods, chapter 10.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/data/gram_block.hpp"
#include "core/loss/loss.hpp"
#include "core/math/symmetric_matrix.hpp"
#include "core/solvers/free_intercept.hpp"
#include "core/solvers/idle_outputs.hpp"
#include "core/solvers/one_vs_rest.hpp"
#include "core/solvers/run.hpp"

namespace margin {

namespace {

constexpr std::int32_t largest_system = 4096;
constexpr std::int64_t steps_per_output = 200;
constexpr double nearly_all = 0.995;  // of the way to the border
constexpr int most_idle = 8;

/// A number ≥ 0 and its multiplier, whose product goes to 0.
struct Pair {
  double x = 0, z = 0, dx = 0, dz = 0, target = 0;  // target: of x dz + z dx

  double limit(double t) const {
    if (dx < 0) t = std::min(t, -x / dx);
    return dz < 0 ? std::min(t, -z / dz) : t;
  }
  void move(double t) {
    x += t * dx;
    z += t * dz;
  }
};

Pair pair(double x, double z) { return {x, z, 0, 0, 0}; }

/// max α (t − u) − curve α²/2, α from low to high: p above, q below.
struct Piece {
  std::int64_t row = 0;
  double t = 0, low = 0, high = 0, curve = 0;
  double alpha = 0, rest = 0, change = 0;
  Pair p, q;

  double theta() const { return p.x / p.z + q.x / q.z + curve; }

  Piece(std::int64_t i, double at, double a, double b, double c) : row(i), t(at), low(a), high(b), curve(c) {}
};

struct Feature {
  double l1 = 0, l2 = 0, e_above = 0, e_below = 0, width = 0, pull = 0;
  Pair above, below;
};

/// One output.
class Program {
 public:
  Program(const Problem& p, std::int32_t output, Run& run);

  /// One step; false where rounding allows none.
  bool step();
  void measure();

  double primal = std::numeric_limits<double>::infinity(), dual = 0;
  std::vector<double> w;  // of `primal`, the best so far
  double b = 0;
  std::vector<double> best;  // c a/W of `dual`
  std::size_t rows() const { return static_cast<std::size_t>(p_.rows()); }

 private:
  double risk(const std::vector<double>& w, double b);
  void solve(std::vector<double>& right, double target, bool corrected);
  double longest() const;
  double product(std::int64_t i, const std::vector<double>& v) const {
    return dot(p_.data.row(i), v.data()) + (constant_ > 0 ? constant_ * v[d_] : 0.0);
  }
  template <class F>
  void each(F&& f) {
    for (Piece& k : pieces_) {
      f(k.p);
      f(k.q);
    }
    for (Feature& j : features_) {
      f(j.above);
      f(j.below);
    }
  }

  const Problem& p_;
  Run& run_;
  std::int32_t output_;
  std::size_t d_;
  double constant_, l2_of_constant_ = 0, beta_ = 0;  // b = constant · beta
  std::vector<Piece> pieces_;
  std::vector<Feature> features_;
  std::vector<double> weight_, direction_;
  SymmetricMatrix matrix_;
};

Program::Program(const Problem& p, std::int32_t output, Run& run)
    : p_(p),
      run_(run),
      output_(output),
      d_(static_cast<std::size_t>(p.dimensions())),
      constant_(!p.intercept       ? 0
                : p.free_intercept ? 1
                                   : p.intercept_scale),
      features_(d_),
      weight_(rows()),
      matrix_(d_ + (p.intercept ? 1 : 0)) {
  double size = 0, cost = 0;
  for (std::int64_t i = 0; i < p.rows(); ++i) {
    const double c = p.weight(i) / p.total_weight, y = p.target(i, output),
                 top = std::numeric_limits<double>::infinity();
    if (!(c > 0)) continue;
    const double low = p.loss->project(-top, y), high = p.loss->project(top, y);
    const double curve = p.loss->smoothness() / c;
    const double tube = high > 0 && low < 0 && curve == 0 ? (p.loss->conjugate(high, y) + high * y) / high : 0;
    if (tube > 0) {
      pieces_.emplace_back(i, y - tube, 0.0, c * high, 0.0);
      pieces_.emplace_back(i, y + tube, c * low, 0.0, 0.0);
    } else {
      pieces_.emplace_back(i, y, c * low, c * high, curve);
    }
    size += c * std::fabs(y);
    cost += c;
  }
  size = size > 0 ? size / cost : 1;
  for (Piece& k : pieces_) {
    k.alpha = 0.5 * (k.low + k.high);
    k.p = pair(std::max(k.t, 0.0) + size, k.high - k.alpha);
    k.q = pair(std::max(-k.t, 0.0) + size, k.alpha - k.low);
  }
  double sum = 0;
  for (const Piece& k : pieces_) sum += k.p.x * k.p.z + k.q.x * k.q.z;
  const double count = 2 * static_cast<double>(pieces_.size());
  const double ridge = p.lambda * (1 - p.l1_ratio);
  for (std::size_t j = 0; j < d_; ++j) {
    Feature& f = features_[j];
    f.l1 = p.lambda * p.l1_ratio * p.factor(static_cast<std::int32_t>(j));
    f.l2 = ridge * p.factor(static_cast<std::int32_t>(j));
    f.above = f.below = pair(sum / count / f.l1, f.l1);
  }
  if (p.intercept && !p.free_intercept) l2_of_constant_ = ridge;
  best.assign(rows(), 0.0);
  w.assign(d_, 0.0);
  measure();
}

double Program::risk(const std::vector<double>& v, double b) {
  double loss = 0, penalty = l2_of_constant_ > 0 ? l2_of_constant_ / 2 * (b / constant_) * (b / constant_) : 0.0;
  for (std::int64_t i = 0; i < p_.rows(); ++i) {
    const double c = p_.weight(i) / p_.total_weight;
    if (c > 0) loss += c * p_.loss->value(dot(p_.data.row(i), v.data()) + b, p_.target(i, output_));
  }
  for (std::size_t j = 0; j < d_; ++j) penalty += features_[j].l1 * std::fabs(v[j]) + features_[j].l2 / 2 * v[j] * v[j];
  run_.work(static_cast<double>(rows()) * (p_.data.density() * p_.dimensions() + 16));
  return loss + penalty;
}

/// The values at the point: the weights with those near 0 at 0 where that costs nothing, the multipliers balanced.
void Program::measure() {
  double largest = 0;
  for (const Feature& f : features_) largest = std::max({largest, f.above.x, f.below.x});
  std::vector<double> all(d_), some(d_);
  for (std::size_t j = 0; j < d_; ++j) {
    const Feature& f = features_[j];
    const double below = f.below.x;
    all[j] = f.above.x - below;
    const bool zero = f.above.x * f.l1 < f.above.z * largest && below * f.l1 < f.below.z * largest;
    some[j] = zero ? 0 : all[j];
  }
  const double b = constant_ * beta_;
  for (const auto* const v : {&some, &all})
    if (const double value = risk(*v, b); value < primal * (v == &all ? 1 - 1e-7 : 1)) {
      primal = value;
      w = *v;
      this->b = b;
    }
  std::vector<double> a(rows(), 0.0);
  for (const Piece& k : pieces_) a[static_cast<std::size_t>(k.row)] += k.alpha;
  if (p_.free_intercept) balance(std::vector<double>(rows(), 1.0), a);
  std::vector<double> v(d_, 0.0);
  double value = 0, of_constant = 0;
  for (std::int64_t i = 0; i < p_.rows(); ++i) {
    const double c = p_.weight(i) / p_.total_weight, at = a[static_cast<std::size_t>(i)];
    if (!(c > 0) || at == 0) continue;
    const double y = p_.target(i, output_);
    value -= c * p_.loss->conjugate(p_.loss->project(at / c, y), y);
    add(at, p_.data.row(i), v.data());
    of_constant += constant_ * at;
  }
  double share = 1, excess = l2_of_constant_ > 0 ? of_constant * of_constant / l2_of_constant_ : 0.0;
  for (std::size_t j = 0; j < d_; ++j) {
    const double over = std::fabs(v[j]) - features_[j].l1;
    if (!(over > 0)) continue;
    if (features_[j].l2 > 0)
      excess += over * over / features_[j].l2;
    else
      share = std::min(share, features_[j].l1 / (features_[j].l1 + over) * (1 - 1e-12));
  }
  value = share * value - excess / 2;
  run_.work(static_cast<double>(rows()) * (p_.data.density() * p_.dimensions() + 16));
  if (!(value > dual)) return;
  dual = value;
  for (std::size_t i = 0; i < rows(); ++i) best[i] = share * a[i];
}

/// The direction for products of `target`; with `corrected` less those of the last direction.
void Program::solve(std::vector<double>& right, double target, bool corrected) {
  each([&](Pair& v) { v.target = target - v.x * v.z - (corrected ? v.dx * v.dz : 0.0); });
  std::fill(right.begin(), right.end(), 0.0);
  double balance = 0;
  for (Piece& k : pieces_) {
    const double theta = k.theta();
    k.change = k.rest - k.p.target / k.p.z + k.q.target / k.q.z;
    add(k.change / theta + k.alpha, p_.data.row(k.row), right.data());
    balance += constant_ * (k.change / theta + k.alpha);
  }
  // X'α was added to all of `right`: it is part of the residuals below.
  for (std::size_t j = 0; j < d_; ++j) {
    Feature& f = features_[j];
    const double at = f.above.x - f.below.x;
    // With h = l2 dw − X'dα + l2 w − X'α: h + (z/x) dx = e of either side.
    f.e_above = f.above.z - f.l1 + f.above.target / f.above.x;
    f.e_below = f.below.z - f.l1 + f.below.target / f.below.x;
    f.width = f.above.x / f.above.z + f.below.x / f.below.z;
    f.pull = f.e_above * f.above.x / f.above.z - f.e_below * f.below.x / f.below.z;
    right[j] += f.pull / f.width - f.l2 * at;
  }
  if (constant_ > 0) right[d_] = balance - l2_of_constant_ * beta_;
  direction_ = right;
  solve_factored(matrix_, direction_.data());
  for (Piece& k : pieces_) {
    const double step = (k.change - product(k.row, direction_)) / k.theta();
    k.p.dz = -step;
    k.p.dx = (k.p.target + k.p.x * step) / k.p.z;
    k.q.dz = step;
    k.q.dx = (k.q.target - k.q.x * step) / k.q.z;
    k.change = step;
  }
  for (std::size_t j = 0; j < d_; ++j) {
    Feature& f = features_[j];
    const double h = (f.pull - direction_[j]) / f.width;
    f.above.dx = (f.e_above - h) * f.above.x / f.above.z;
    f.above.dz = (f.above.target - f.above.z * f.above.dx) / f.above.x;
    f.below.dx = (f.e_below + h) * f.below.x / f.below.z;
    f.below.dz = (f.below.target - f.below.z * f.below.dx) / f.below.x;
  }
  run_.work(4 * static_cast<double>(pieces_.size()) * (p_.data.density() * p_.dimensions() + 16));
}

double Program::longest() const {
  double t = 1 / nearly_all;
  const_cast<Program*>(this)->each([&](const Pair& v) { t = v.limit(t); });
  return std::min(1.0, nearly_all * t);
}

bool Program::step() {
  std::fill(weight_.begin(), weight_.end(), 0.0);
  std::vector<double> at(d_ + 1);
  for (std::size_t j = 0; j < d_; ++j) at[j] = features_[j].above.x - features_[j].below.x;
  at[d_] = beta_;
  for (Piece& k : pieces_) {
    weight_[static_cast<std::size_t>(k.row)] += 1 / k.theta();
    k.rest = k.t - product(k.row, at) - k.p.x + k.q.x - k.curve * k.alpha;
  }
  double sum = 0, count = 0;
  each([&](const Pair& v) {
    sum += v.x * v.z;
    ++count;
  });
  bool solved = false;
  for (double damping = 0; !solved && damping < 1e-2; damping = damping == 0 ? 1e-15 : 100 * damping) {
    matrix_.set_zero();
    GramBlock block(d_, constant_);
    for (std::int64_t i = 0; i < p_.rows(); ++i)
      if (const double h = weight_[static_cast<std::size_t>(i)]; h > 0)
        block.add(p_.data.row(i), h, 1, matrix_, run_.progress());
    block.flush(1, matrix_, run_.progress());
    for (std::size_t j = 0; j < matrix_.size(); ++j) {
      double& h = matrix_.row(j)[j];
      const double own = j < d_ ? features_[j].l2 + 1 / (features_[j].above.x / features_[j].above.z +
                                                         features_[j].below.x / features_[j].below.z)
                                : l2_of_constant_;
      h += own + damping * h;
    }
    solved = factorise(matrix_, run_.progress());
  }
  if (!solved) return false;
  std::vector<double> right(matrix_.size());
  solve(right, 0, false);
  const double t = longest();
  double left = 0;
  each([&](const Pair& v) { left += (v.x + t * v.dx) * (v.z + t * v.dz); });
  const double share = left / sum, mean = sum / count;
  solve(right, share * share * share * mean, true);
  const double length = longest();
  if (!std::isfinite(length) || !(length > 1e-12)) return false;
  each([&](Pair& v) { v.move(length); });
  for (Piece& k : pieces_) {
    // The two multipliers add up to the width; the larger one follows from the smaller one.
    if (k.p.z < k.q.z) {
      k.alpha = k.high - k.p.z;
      k.q.z = k.alpha - k.low;
    } else {
      k.alpha = k.low + k.q.z;
      k.p.z = k.high - k.alpha;
    }
  }
  if (constant_ > 0) beta_ += length * direction_[d_];
  measure();
  return true;
}

class InteriorPoint final : public Solver {
 public:
  const SolverRecord& record() const override {
    static const SolverRecord record = {"interior_point",
                                        "what auto goes on with: an l1 norm and a loss that is not smooth",
                                        SolverRecord::soft_margin,
                                        SolverRecord::l2,
                                        SolverRecord::Losses::piecewise,
                                        false,
                                        {},
                                        one_vs_rest_or_numbers | feature::l1_ratio | feature::free_intercept,
                                        feature::l1_ratio};
    return record;
  }
  double workspace(const Problem& p) const override {
    return static_cast<double>(p.rows()) * (2.0 * sizeof(Piece) + 48 + 8.0 * p.outputs()) +
           SymmetricMatrix::bytes(static_cast<std::size_t>(p.dimensions()) + 1) + 8.0 * 320 * p.dimensions();
  }
  Solution solve(const Problem& p, const Options& options, const Progress& progress) const override;

 private:
  std::string limit(const Problem& p) const override {
    return p.dimensions() >= largest_system ? "it has as many features as no matrix of them holds" : "";
  }
};

Solution InteriorPoint::solve(const Problem& p, const Options& options, const Progress& progress) const {
  Run run(options, progress, name(), steps_per_output * p.outputs());
  Solution s = zero_solution(p, name(), progress);
  std::vector<double> lower(static_cast<std::size_t>(p.outputs()), 0.0), upper = risk_of_constant(p, 0, run);
  const auto solve_output = [&](std::int32_t o) {
    Program program(p, o, run);
    const auto at = static_cast<std::size_t>(o);
    Status why = Status::iteration_limit;
    int idle = 0;
    for (;;) {
      lower[at] = program.dual;
      upper[at] = program.primal;
      run.record(s.iterations, std::accumulate(lower.begin(), lower.end(), 0.0),
                 std::accumulate(upper.begin(), upper.end(), 0.0));
      const double gap = program.primal - program.dual;
      if (gap <= 0.9 * options.tolerance * program.primal) {
        why = Status::optimal;
        break;
      }
      if (idle > most_idle || run.exhausted(s.iterations, why)) break;
      ++s.iterations;
      if (!program.step()) break;
      idle = program.primal - program.dual < 0.9 * gap ? 0 : idle + 1;
    }
    for (std::size_t i = 0; i < program.rows(); ++i) {
      const auto row = static_cast<std::int64_t>(i);
      const double c = p.weight(row) / p.total_weight;
      s.dual(row, o) = c > 0 ? p.loss->project(program.best[i] / c, p.target(row, o)) : 0.0;
    }
    for (std::int32_t j = 0; j < p.dimensions(); ++j) s.weights(o, j) = program.w[static_cast<std::size_t>(j)];
    if (p.intercept) s.intercept[o] = program.b;
    return why;
  };
  leave_idle(p, solve_outputs(p, s.status, solve_output, time_is_up(run)), s, run);
  s.trace = run.take_trace();
  return s;
}

const InteriorPoint interior_point_solver;

}  // namespace

extern const Solver& interior_point;
const Solver& interior_point = interior_point_solver;

}  // namespace margin
