// sgd: stochastic gradient descent, the baseline that the coordinate ascent of sdca is measured against.
//
// Problem    min P(w, b) of certificate/risk.hpp with l1_ratio = 0, one output after another.
// Update     draw row i uniformly; w ← (1 − 1/t) w − (n c_i/W) φ'(<x_i, w> + b) x_i / (λt), t = t₀ + 1, t₀ + 2, …; the
//            constant feature is one more column. t₀ = 0 for Lipschitz losses, as in the paper. A loss with unbounded
//            slopes would explode in its first steps (of length 1/λ), so there t₀ = max n s_i/γ, from which on no step
//            overshoots its row.
// Output     the last iterate; average: the mean of w_(T₀+1) … w_T, T₀ by the option average_from, else between a quarter
//            and a half of T (windows start at epochs 1, 2, 4, 8, …). An epoch is n draws, or as many as the option draws says.
// Stop       relative gap ≤ tolerance or gap ≤ gap_tolerance, with a_i = −φ'(<x_i, w> + b) as the dual (always feasible),
//            measured after 1, 2, 4, … epochs. The best dual seen there is returned: any makes a certificate.
//            With the option `history` the other epochs are measured too, to be recorded and nothing else.
// Source     S. Shalev-Shwartz, T. Zhang, 2013 (as for sdca), Section 8.6; S. Shalev-Shwartz, Y. Singer, N. Srebro,
//            Pegasos: primal estimated sub-gradient solver for SVM, 2007.
#include <algorithm>
#include <cmath>

#include "core/base/random.hpp"
#include "core/loss/registry.hpp"
#include "core/math/rounding.hpp"
#include "core/problem/thresholds.hpp"
#include "core/solvers/idle_outputs.hpp"
#include "core/solvers/one_vs_rest.hpp"
#include "core/solvers/output.hpp"
#include "core/solvers/run.hpp"
#include "core/solvers/sdca/state.hpp"

namespace margin {

namespace {

constexpr std::int64_t sgd_epochs = 128;

class Sgd final : public Solver {
 public:
  const SolverRecord& record() const override {
    static const SolverRecord record = {"sgd",
                                        "stochastic gradient descent with step 1/(lambda t): a baseline",
                                        SolverRecord::soft_margin,
                                        SolverRecord::l2,
                                        SolverRecord::Losses::all,
                                        false,
                                        {"seed", "output", "average_from", "draws", "gap_tolerance"},
                                        one_vs_rest_or_numbers};
    return record;
  }
  double workspace(const Problem& p) const override {
    return static_cast<double>(p.rows()) * (sizeof(Coordinate) + 16.0 + 8.0 * p.outputs()) +
           p.dimensions() * 8.0 * (p.outputs() + 6.0);
  }
  Solution solve(const Problem& p, const Options& options, const Progress& progress) const override;

 private:
  std::string limit(const Problem& p) const override { return rows_limit(p); }
};

/// The primal vector of one output to return, and its best dual vector, so far.
struct Best {
  double primal = infinity, dual = 0;  // D(0) = 0
  std::vector<double> weights, a;      // a empty: 0
  double intercept = 0;

  void adopt_by(SdcaState& state) const {
    state.weights = weights;
    state.intercept = intercept;
    for (std::size_t i = 0; i < state.rows.size(); ++i) state.rows[i].a = a.empty() ? 0.0 : a[i];
  }
};

/// The descent of one output, and the interval of those before it.
struct Descent {
  const Options& options;
  Run& run;
  Random random;
  SdcaState state;
  bool averages;
  double gap_tolerance;  ///< of each output
  double other_primal = 0, other_dual = 0;
  Best best = {};
  std::int64_t epochs = 0;

  /// Whether the interval of `now` is narrow enough; records it.
  bool record(const Best& now) {
    run.record(epochs, other_dual + now.dual, other_primal + now.primal);
    const double size = std::max(std::fabs(now.primal), std::fabs(now.dual));
    return now.primal < infinity &&
           now.primal - now.dual <= certifiable * std::max(options.tolerance * size, gap_tolerance);
  }
};

/// The mean of iterates w_s = v_s/s of a window. A step is added when it is made, times what the steps before it have
/// summed up of 1/s, so that Σ v_s/s = h v − u costs as much as the steps.
class Mean {
 public:
  Mean(std::size_t dimensions, std::optional<std::int64_t> from)
      : from_(from), steps_(dimensions, 0.0), sum_(dimensions, 0.0) {}

  /// Before the first draw of an epoch, `epoch` of them being done.
  void begin_epoch(std::int64_t epoch, const std::vector<double>& v, double vb) {
    if (from_.has_value() ? epoch != *from_ : epoch == 0 || (epoch & (epoch - 1)) != 0) return;
    for (std::size_t j = 0; j < v.size(); ++j) {
      sum_[j] = harmonic_ * v[j] - steps_[j];
      steps_[j] = 0;
    }
    intercept_sum_ = harmonic_ * vb - intercept_steps_;
    intercept_steps_ = harmonic_ = 0;
    earlier_ = count_;
    count_ = 0;
  }
  /// A step of v, before its iterate is counted.
  void add_step(double size, const Row& x, double feature) {
    add(harmonic_ * size, x, steps_.data());
    intercept_steps_ += harmonic_ * size * feature;
  }
  void count(double t) {
    harmonic_ += 1 / t;
    count_ += 1;
    all_ += 1;
  }
  /// The window alone where it is long enough, else with the one before it.
  void write(const std::vector<double>& v, double vb, SdcaState& state) const {
    const bool alone = from_.has_value() || 2 * count_ >= all_;
    const double length = std::max(1.0, alone ? count_ : count_ + earlier_);
    for (std::size_t j = 0; j < v.size(); ++j)
      state.weights[j] = (harmonic_ * v[j] - steps_[j] + (alone ? 0.0 : sum_[j])) / length;
    state.intercept = (harmonic_ * vb - intercept_steps_ + (alone ? 0.0 : intercept_sum_)) / length;
  }

 private:
  const std::optional<std::int64_t> from_;
  std::vector<double> steps_, sum_;  // u of this window; Σ w of the one before
  double intercept_steps_ = 0, intercept_sum_ = 0, harmonic_ = 0, count_ = 0, earlier_ = 0, all_ = 0;
};

/// Measure the state's weights and the dual that belongs to them; the state's weights are replaced.
void measure(SdcaState& state, Run& run, Best& best) {
  const Loss& loss = *state.problem.loss;
  double losses = 0, conjugates = 0;
  std::vector<double> a(state.rows.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    Coordinate& row = state.rows[i];
    const double u = state.score(row.x);
    losses += row.scale * loss.value(u, row.y);
    const double slope = -loss.derivative(u, row.y);
    a[i] = std::isfinite(slope) ? loss.project(slope, row.y) : 0.0;
    conjugates += row.scale * loss.conjugate(a[i], row.y);
    run.work(2.0 * row.x.count + 64.0);
  }
  const double primal = state.convexity * losses + state.penalty();
  best.primal = primal < infinity ? primal : infinity;
  best.weights = state.weights;
  best.intercept = state.intercept;
  for (std::size_t i = 0; i < a.size(); ++i) state.rows[i].a = a[i];
  state.refresh_weights();
  const double dual = -state.convexity * conjugates - state.conjugate_penalty();
  if (dual > best.dual) {
    best.dual = dual;
    best.a = std::move(a);
  }
}

template <class L>
Status descend(const L& loss, Descent& d) {
  SdcaState& state = d.state;
  const auto n = static_cast<std::uint64_t>(state.movable.size());
  const double feature = state.problem.intercept ? state.problem.intercept_scale * state.problem.intercept_scale : 0.0;
  double first = 0;
  if (!(loss.lipschitz() < infinity))
    for (const Coordinate& row : state.rows)
      first = std::max(first, std::ceil(row.s * static_cast<double>(n) / loss.smoothness()));
  // v = t·w turns the update into v ← v − (n c_i/W) φ' x_i / λ, without a scaling of the whole vector.
  std::vector<double> v(state.weights.size(), 0.0);
  double vb = 0, t = first;
  Status status = Status::iteration_limit;
  const bool averages = d.averages;
  Mean mean(averages ? v.size() : 0, d.options.average_from);
  const auto draws = n == 0 ? n : static_cast<std::uint64_t>(d.options.draws.value_or(static_cast<std::int64_t>(n)));
  for (d.epochs = 0;;) {
    if (averages) mean.begin_epoch(d.epochs, v, vb);
    for (std::uint64_t k = 0; k < draws && !d.run.out_of_time(); ++k) {
      const Coordinate& row = state.rows[static_cast<std::size_t>(state.movable[d.random.below(n)])];
      const double u = t > 0 ? (dot(row.x, v.data()) + vb) / t : 0.0;
      const double step = -row.scale * static_cast<double>(n) * loss.derivative(u, row.y);
      if (step != 0) {
        add(step, row.x, v.data());
        vb += step * feature;
        if (averages) mean.add_step(step, row.x, feature);
      }
      t += 1;
      if (averages) mean.count(t);
      d.run.work(4.0 * row.x.count + 64.0);
    }
    ++d.epochs;
    const bool last = d.run.exhausted(d.epochs, status);
    const bool between = !last && n > 0 && (d.epochs & (d.epochs - 1)) != 0;
    if (between && !d.options.history) continue;
    if (averages) {
      mean.write(v, vb, state);
    } else {
      for (std::size_t j = 0; j < v.size(); ++j) state.weights[j] = t > 0 ? v[j] / t : 0.0;
      state.intercept = t > 0 ? vb / t : 0.0;
    }
    if (between) {
      Best seen = d.best;
      measure(state, d.run, seen);
      d.record(seen);
      continue;
    }
    measure(state, d.run, d.best);
    if (d.record(d.best)) return Status::optimal;
    if (last || n == 0) return status;
  }
}

Solution Sgd::solve(const Problem& p, const Options& options, const Progress& progress) const {
  const bool averages = output_of(options, name(), {Output::last, Output::average}) == Output::average;
  require_average(options);
  Run run(options, progress, name(), sgd_epochs);
  Descent d{options, run, Random(options.seed), SdcaState(p, run), averages, options.gap_tolerance / p.outputs()};
  Solution solution = zero_solution(p, name(), progress);
  const auto solve_output = [&](std::int32_t o) {
    d.state.start_output(o);
    d.best = Best();
    d.best.weights.assign(d.state.weights.size(), 0.0);
    Status status = Status::optimal;
    visit(*p.loss, [&](const auto& loss) { status = descend(loss, d); });
    d.other_primal += d.best.primal;
    d.other_dual += d.best.dual;
    solution.iterations = std::max(solution.iterations, d.epochs);
    d.best.adopt_by(d.state);
    d.state.store(o, solution);
    return status;
  };
  leave_idle(p, solve_outputs(p, solution.status, solve_output, time_is_up(run)), solution, run);
  solution.trace = run.take_trace();
  return solution;
}

const Sgd sgd_solver;

}  // namespace

extern const Solver& sgd;
const Solver& sgd = sgd_solver;

}  // namespace margin
