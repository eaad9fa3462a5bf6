#include "core/scans/methods/methods.hpp"

#include <algorithm>

#include "core/loss/joint.hpp"
#include "core/solvers/readers.hpp"

namespace margin {

Solution solve_rows(const Solver& solver, const Problem& rows, Options options, ScanRun& run) {
  options.history = false;
  options.max_iterations.reset();
  if (options.max_seconds) options.max_seconds = std::max(1e-3, *options.max_seconds - run.run().seconds());
  const QuietProgress quiet(run.progress());
  Solution s = solver.solve(rows, options, quiet);
  for (Eigen::Index o = 0; o < s.weights.rows(); ++o)
    if (!s.weights.row(o).allFinite() || !std::isfinite(s.intercept(o))) {
      s.weights.row(o).setZero();
      s.intercept(o) = 0;
    }
  return s;
}

namespace {

[[noreturn]] void refuse_wide(const ScanProblem& problem) {
  throw Error(ErrorKind::unsupported,
              "a training by scans takes bounds, constraints, an offset, a free intercept, l1_ratio, penalty_factor, "
              "lambda 0, one class and the loss poisson with fewer than " +
                  std::to_string(Answer::most_matrix_columns) + " features, and the rows have " +
                  std::to_string(problem.dimensions),
              "Train on rows in memory: train_margin(label, features, options).");
}

/// Of what only models in few features do.
void require_model(const ScanProblem& problem, MemoryBudget memory, double needed) {
  const Problem& p = problem.sample();
  if (problem.dimensions >= Answer::most_matrix_columns) refuse_wide(problem);
  const bool square = p.l1_ratio == 0 && p.penalty_factor.empty() && p.least_factor == 1;
  if (!problem.loss()->smooth() && !square)
    throw Error(
        ErrorKind::unsupported,
        "a training by scans takes such a penalty with smooth losses, and \"" + p.loss_name + "\" is piecewise linear",
        "Take a smooth loss such as squared_hinge or huber, or train with train_margin.");
  memory.require(needed, "the model of the loss");
}

/// Classes that are trained jointly.
void require_joint(const ScanProblem& problem, const Options& options, MemoryBudget memory) {
  const Problem& p = problem.sample();
  constexpr double samples = 5;  // held rows, as a multiple of the sample
  choose_solver(p, options);     // refuses what their solver does not take
  if (p.free_intercept && problem.class_names.size() > most_flow_classes)
    throw Error(ErrorKind::unsupported,
                "a training by scans takes free intercepts of jointly trained classes with at most " +
                    std::to_string(most_flow_classes) + " classes, and the rows have " +
                    std::to_string(problem.class_names.size()),
                "Leave intercept => 'free' out, or train with train_margin.");
  memory.require(samples * find_solver("joint")->workspace(p), "the model of the loss");
}

/// A lower bound of the optimum of the hinge from a smoothed one, which is nowhere above it, and nowhere below it by more than half of
/// its width: so the dual value of the one is a bound for the other, and as good a one as half of that width. Its dual weights are
/// slopes, which each row tells of itself, also where most rows are tied at the kink, as they are where a constant is the best.
/// Source: Nesterov (2005), Smooth minimization of non-smooth functions, Section 2.
double bound_by_smoothing(ScanProblem& problem, Answer& first, const Options& options, ScanRun& run, double lower,
                          double upper) {
  constexpr double share_of_gap = 0.25;
  constexpr int most_in_vain = 2;
  Options own = options;
  own.loss = "smoothed_hinge";
  own.smoothing = options.tolerance * upper / problem.outputs();
  own.tolerance = share_of_gap * options.tolerance;
  run.bound_below(lower, upper);
  const auto hinge = problem.exchange(make_loss(own.loss, own));
  const ScanSolution smooth = solve_smooth_scans(problem, first, own, run, most_in_vain);
  problem.exchange(hinge);
  run.bound_below(smooth.certificate.lower, infinity);
  return smooth.certificate.lower;
}

}  // namespace

ScanSolution solve_by_scans(ScanProblem& problem, Answer& first, const Options& options, ScanRun& run,
                            MemoryBudget memory) {
  if (problem.sample().hard_margin) return solve_by_pool(problem, options, run, memory);
  if (options.solver != "auto")
    throw Error(ErrorKind::unsupported,
                "a training of a soft margin by scans has no solver \"" + options.solver + "\" to choose",
                "Leave solver out: the loss and the number of features decide.");
  const bool likelihood = problem.sample().likelihood(), joint = joint_of(problem.loss()) != nullptr;
  const bool one_class = problem.sample().one_class();
  require_readers(options,
                  *find_solver(likelihood  ? "irls"
                               : joint     ? "joint"
                               : one_class ? "one_class"
                                           : "newton"),
                  losses_of(options));
  // The largest matrices where there are second derivatives: an answer's and the model's of each output, and four that
  // come and go.
  const double columns = problem.dimensions + 1.0, matrices = 2.0 * problem.outputs() + 4;
  const double needed = 8 * matrices * columns * columns;
  if (likelihood) {
    choose_solver(problem.sample(), options);  // refuses what the likelihood does not take
    if (problem.dimensions >= Answer::most_matrix_columns) refuse_wide(problem);
    memory.require(needed, "the model of the loss");
    return solve_likelihood_scans(problem, first, options, run);
  }
  if (joint) {
    require_joint(problem, options, memory);
    return solve_joint_scans(problem, options, run);
  }
  if (!problem.sample().plain_penalty() || problem.sample().offset >= 0 || problem.loss()->log_link())
    require_model(problem, memory, needed);
  if (one_class) return solve_one_class_scans(problem, options, run);
  if (problem.loss()->smooth())
    return problem.dimensions < Answer::most_matrix_columns && memory.allows(needed)
               ? solve_smooth_scans(problem, first, options, run)
               : solve_smooth_wide(problem, options, run);
  if (problem.dimensions < Answer::most_matrix_columns)
    memory.require(4 * 8 * columns * columns, "the model of the loss");
  // A narrow width wants a start that is near, and prices of bounds are those of the bands' own dual weights.
  constexpr std::int64_t least_sample = 1000, rows_per_column = 20;
  const bool may_smooth = problem.loss()->name() == std::string_view("hinge") && !problem.confined() &&
                          problem.dimensions < Answer::most_matrix_columns && memory.allows(needed) &&
                          problem.sample().rows() >= std::max(least_sample, rows_per_column * problem.dimensions);
  if (!may_smooth) return solve_by_bands(problem, options, run, {});
  return solve_by_bands(problem, options, run, [&](double lower, double upper) {
    return bound_by_smoothing(problem, first, options, run, lower, upper);
  });
}

}  // namespace margin
