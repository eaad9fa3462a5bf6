#include "core/scans/methods/methods.hpp"

#include <algorithm>

#include "core/loss/loss.hpp"
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

Solution solve_sample(const ScanProblem& problem, const Options& options, ScanRun& run, double tolerance) {
  Options own = options;
  own.tolerance = std::max(options.tolerance, tolerance);
  return solve_rows(choose_solver(problem.sample(), own), problem.sample(), own, run);
}

void take_start(const Solution& sample, std::size_t output, double constant, std::vector<double>& w) {
  const auto at = static_cast<Eigen::Index>(output);
  std::copy_n(sample.weights.row(at).data(), sample.weights.cols(), w.begin());
  if (constant != 0) w.back() = sample.intercept(at) / constant;
}

namespace {

/// Of what only models in few features do.
void require_model(const ScanProblem& problem, MemoryBudget memory, double needed) {
  const Problem& p = problem.sample();
  if (problem.dimensions >= Answer::most_matrix_columns)
    throw Error(ErrorKind::unsupported,
                "a training by scans takes bounds, constraints, an offset, a free intercept, l1_ratio, penalty_factor "
                "and the loss poisson with fewer than " +
                    std::to_string(Answer::most_matrix_columns) + " features, and the rows have " +
                    std::to_string(problem.dimensions),
                "Train on rows in memory: train_margin(label, features, options).");
  const bool square = p.l1_ratio == 0 && p.penalty_factor.empty() && p.least_factor == 1;
  if (!problem.loss()->smooth() && (!square || p.free_intercept || p.offset >= 0))
    throw Error(ErrorKind::unsupported,
                "a training by scans takes " +
                    std::string(!square            ? "such a penalty"
                                : p.free_intercept ? "a free intercept"
                                                   : "an offset") +
                    " with smooth losses, and \"" + p.loss_name + "\" is piecewise linear",
                square && p.free_intercept
                    ? "Give intercept => 'penalized', take a smooth loss such as squared_hinge or huber, or train "
                      "with train_margin."
                    : "Take a smooth loss such as squared_hinge or huber, or train with train_margin.");
  memory.require(needed, "the model of the loss");
}

}  // namespace

ScanSolution solve_by_scans(const ScanProblem& problem, Answer& first, const Options& options, ScanRun& run,
                            MemoryBudget memory) {
  if (problem.sample().hard_margin) return solve_by_pool(problem, options, run, memory);
  if (options.solver != "auto")
    throw Error(ErrorKind::unsupported,
                "a training of a soft margin by scans has no solver \"" + options.solver + "\" to choose",
                "Leave solver out: the loss and the number of features decide.");
  require_readers(options, *find_solver("newton"), losses_of(options));
  // The largest matrices where there are second derivatives: an answer's and the model's of each output, and four that
  // come and go.
  const double columns = problem.dimensions + 1.0, matrices = 2.0 * problem.outputs() + 4;
  const double needed = 8 * matrices * columns * columns;
  if (!problem.sample().plain_penalty() || problem.sample().offset >= 0 || problem.loss()->log_link())
    require_model(problem, memory, needed);
  if (problem.loss()->smooth())
    return problem.dimensions < Answer::most_matrix_columns && memory.allows(needed)
               ? solve_smooth_scans(problem, first, options, run)
               : solve_smooth_wide(problem, options, run);
  if (problem.dimensions < Answer::most_matrix_columns)
    memory.require(4 * 8 * columns * columns, "the model of the loss");
  return solve_by_bands(problem, options, run);
}

}  // namespace margin
