#include "core/scans/methods.hpp"

#include "core/loss/loss.hpp"

namespace margin {

ScanSolution solve_by_scans(const ScanProblem& problem, Answer& first, const Options& options, ScanRun& run,
                            MemoryBudget memory) {
  if (problem.sample().hard_margin) return solve_by_pool(problem, options, run, memory);
  if (problem.loss()->smoothness() > 0) return solve_smooth_scans(problem, first, options, run);
  return solve_by_bands(problem, options, run, memory);
}

}  // namespace margin
