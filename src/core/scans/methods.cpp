#include "core/scans/methods.hpp"

#include <algorithm>

#include "core/loss/loss.hpp"
#include "core/solvers/readers.hpp"

namespace margin {

Solution solve_sample(const ScanProblem& problem, const Options& options, ScanRun& run, double tolerance) {
  Options own = options;
  own.tolerance = std::max(options.tolerance, tolerance);
  own.history = false;
  own.max_iterations.reset();  // counts scans
  if (options.max_seconds) own.max_seconds = std::max(1e-3, *options.max_seconds - run.run().seconds());
  const Problem& sample = problem.sample();
  const QuietProgress quiet(run.progress());
  Solution s = choose_solver(sample, own).solve(sample, own, quiet);
  for (Eigen::Index o = 0; o < s.weights.rows(); ++o)
    if (!s.weights.row(o).allFinite() || !std::isfinite(s.intercept(o))) {
      s.weights.row(o).setZero();
      s.intercept(o) = 0;
    }
  return s;
}

ScanSolution solve_by_scans(const ScanProblem& problem, Answer& first, const Options& options, ScanRun& run,
                            MemoryBudget memory) {
  if (problem.sample().hard_margin) return solve_by_pool(problem, options, run, memory);
  if (options.solver != "auto")
    throw Error(ErrorKind::unsupported,
                "a training of a soft margin by scans has no solver \"" + options.solver + "\" to choose",
                "Leave solver out: the loss and the number of features decide.");
  require_readers(options, *find_solver("newton"), losses_of(options));
  if (problem.loss()->smoothness() > 0) return solve_smooth_scans(problem, first, options, run);
  return solve_by_bands(problem, options, run, memory);
}

}  // namespace margin
