// smo: kernel machines solved exactly: hard margins, losses of straight pieces, one-class machines.
//
// Problem    two classes, hard:  the w of least norm with y_i (w(x_i) + b) ≥ 1: its direction has the largest margin.
//            soft:               λ/2 ‖w‖² + (1/W) Σ c_i φ(w(x_i) + b; y_i), φ the hinge, the absolute, the
//                                ε-insensitive or the quantile loss,
//            one class:          ½ ‖w‖² + b + (1/νW) Σ c_i max(0, −w(x_i) − b),
//            w = Σ β_i k(x_i, ·), b free and not regularised. One dual serves all,
//              max Σ t_v β_v − ½ βᵀKβ   with low_v ≤ β_v ≤ high_v, and Σ β_v = 0 with an intercept (one class: 1).
//            The hinge: t = y, 0 ≤ y β ≤ C_i = c_i/(λW), without a bound for a hard margin. A tube has two variables
//            for a row, t = y ∓ ε, as C.-C. Chang and C.-J. Lin's LIBSVM has them (ACM TIST 2, 2011).
//            More than two classes: soft margins one against the rest; hard margins are left to sampling.
// Update     keep a working set of rows with their kernel values among each other; solve the dual on the working set
// (solvers/kernel/smo_working_set.hpp);
//            bring the errors t_v − w(x_i) of all rows up to date from the columns of the weights that moved; let in
//            the rows that violate the conditions of optimality most; repeat. Rows outside of the working set are not
//            touched in between: this is shrinking whose every round ends with a full reconstruction. Columns are
//            computed several at a time and kept as long as memory allows.
// Stop       each output when the gap between both its ends, known after every round, is within the tolerance, when
//            rounding allows no progress, or after its rounds; the next one is solved in any case. A hard margin also
//            when its upper bound is negligible: then no separator has a larger margin.
// Source     J. Platt, Fast training of support vector machines using sequential minimal optimization (1998);
//            T. Joachims, Making large-scale SVM learning practical (1998), for the working set.
#include <algorithm>
#include <cmath>
#include <functional>

#include "core/base/polled.hpp"
#include "core/kernel/support_vectors.hpp"
#include "core/loss/loss.hpp"
#include "core/problem/thresholds.hpp"
#include "core/solvers/kernel/smo_output.hpp"
#include "core/solvers/margin_scan.hpp"
#include "core/solvers/one_vs_rest.hpp"
#include "core/solvers/run.hpp"

namespace margin {

namespace {
constexpr std::int64_t default_rounds = 10000;
// Beyond some thousand rows Newton's cubic steps cost more than the rounds that a larger working set saves: 20,000
// noisy rows with a small lambda took 30 s with 2,000 and were not done after 43 s without a bound.
constexpr double useful_pool = 2500;

class Smo final : public Solver {
 public:
  const SolverRecord& record() const override {
    static const SolverRecord record = {
        "smo",
        "exact kernel machine (maximum margin, losses of straight pieces, one class): second-order SMO and Newton's "
        "method on a working set of rows",
        SolverRecord::hard_margin | SolverRecord::soft_margin | SolverRecord::one_class,
        SolverRecord::l2,
        SolverRecord::Losses::piecewise,
        true,
        {},
        one_vs_rest_or_numbers};
    return record;
  }
  double workspace(const Problem& p) const override {
    const double n = static_cast<double>(p.rows()), first = std::min(n, static_cast<double>(SmoOutput::first_pool));
    return KernelRows::bytes(p.data, *p.kernel) + 8 * n * (24 + first) + 32 * first * first + 2 * dual_bytes(p);
  }
  Solution solve(const Problem& problem, const Options& options, const Progress& progress) const override;

 private:
  std::string limit(const Problem& p) const override {
    return p.hard_margin && p.task == Task::multiclass
               ? "it has more than two classes; sampling takes these, with intercept => false"
               : "";
  }
};

/// The value of weights of 0 against several classes: that of outputs to come.
double untrained_hinge(const Problem& problem) {
  if (problem.task != Task::multiclass || problem.hard_margin) return 0;
  double sum = 0;
  for (std::int64_t i = 0; i < problem.rows(); ++i) sum += problem.weight(i);
  return sum / problem.total_weight;
}

/// Rounds until the interval of this output is within `target`; if not, what stopped it.
Status solve_output(SmoOutput& output, double target, Run& run, const std::function<void()>& record) {
  for (std::int64_t rounds = 1;; ++rounds) {
    const bool more = output.advance(target);
    record();
    const SmoOutput::Interval& interval = output.interval();
    Status why;
    if (stops(run, rounds, interval.relative <= target, interval.inseparable, why) || !more) return why;
  }
}

/// Weights and dual of one output. Hard margins have norm 1, as in every model: a score is a distance.
void store(const Problem& problem, const SmoOutput& output, std::int32_t o, Weights& coefficients, Solution& s,
           Run& run) {
  const double norm = std::sqrt(output.squared_norm());
  const double scale = problem.hard_margin && norm > 0 ? 1 / norm : output.scale();
  s.intercept(o) = scale * output.intercept();
  const std::vector<double> weights = output.weights();
  for (std::int64_t i = 0; i < problem.rows(); ++i) {
    const double w = weights[static_cast<std::size_t>(i)];
    coefficients(i, o) = scale * w;
    if (problem.hard_margin)
      s.dual(i, o) = std::fabs(w);
    else if (problem.weight(i) > 0)
      s.dual(i, o) = w * problem.lambda * problem.total_weight / problem.weight(i);
    run.work(problem.outputs() > 8 ? 64 : 8);  // lines of the cache
  }
}

Solution Smo::solve(const Problem& problem, const Options& options, const Progress& progress) const {
  Run run(options, progress, name(), default_rounds);
  const KernelRows rows = kernel_rows(problem.data, problem.kernel, progress);
  const double n = static_cast<double>(problem.rows());
  const double left = std::max(
      options.workspace_limit - KernelRows::bytes(problem.data, *problem.kernel) - 192 * n - 2 * dual_bytes(problem),
      8 * n * 24);
  // A quarter for the working set's kernel matrix and the copy that it grows into, a quarter for Newton's factor, half
  // for columns.
  const auto largest_pool = static_cast<std::size_t>(std::clamp(std::sqrt(left / 4 / 8 / 2.6), 16.0, useful_pool));
  KernelColumns columns(rows, left / 2, progress);

  Solution s;
  s.solver = name();
  s.status = Status::optimal;
  s.dual = polled_zeros(problem.rows(), problem.outputs(), progress);
  s.intercept = Eigen::VectorXd::Zero(problem.outputs());
  Weights coefficients = polled_zeros(problem.rows(), problem.outputs(), progress);
  // The interval of all outputs: those that are done by their own, those to come by weights of 0.
  const double untrained = untrained_hinge(problem);
  double lower = 0, upper = untrained * problem.outputs();
  const auto solve_one = [&](std::int32_t o) {
    SmoOutput output(problem, o, rows, columns, largest_pool, run);
    upper -= untrained;
    const Status status = solve_output(output, certifiable * options.tolerance, run, [&] {
      run.record(++s.iterations, lower + output.interval().lower, upper + output.interval().upper);
    });
    lower += output.interval().lower;
    upper += output.interval().upper;
    store(problem, output, o, coefficients, s, run);
    return status;
  };
  if (problem.hard_margin && largest_diagonal(rows) == 0) {  // any weights prove a margin of 0
    s.dual.setOnes();
    s.status = Status::not_separable;
  } else {
    solve_outputs(problem, s.status, solve_one);
  }
  SupportVectors support = support_vectors(problem.data, rows, coefficients, progress);
  s.basis = std::move(support.basis);
  s.weights = std::move(support.weights);
  s.trace = run.take_trace();
  return s;
}

const Smo smo_solver;

}  // namespace

const Solver& smo = smo_solver;

}  // namespace margin
