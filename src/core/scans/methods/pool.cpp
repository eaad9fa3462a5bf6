#include "core/scans/methods/pool.hpp"

#include <algorithm>
#include <cmath>

#include "core/math/rounding.hpp"
#include "core/solvers/l2_margin/soft_weights.hpp"
#include "core/solvers/readers.hpp"

namespace margin {

namespace {

constexpr double share_of_memory = 0.5, share_that_stays = 0.5, share_of_answer = 0.25;
// Of each bag; fewer where there are many bags. Measured: with 64 rows half as many scans again as with 512, on sets of
// 50 to 800 features.
constexpr std::int64_t first_rows = 256, most_rows = 1024, fewest_rows = 32, rows_of_all_bags = 8192;

}  // namespace

PoolSolver::PoolSolver(const ScanProblem& problem, const Options& options, ScanRun& run, MemoryBudget memory)
    : problem_(problem),
      options_(options),
      run_(run),
      memory_(memory),
      most_bytes_(share_of_memory * memory.left_or(infinity)),
      pool_(problem, run.progress()) {
  solver_ = &choose_solver(problem.sample(), options);
  require_readers(options, *solver_, losses_of(options));
}

Solution PoolSolver::solve(const Problem& problem, double tolerance) {
  memory_.require(
      solver_->workspace(problem) + static_cast<double>(pool_.rows().bytes()),
      "solver \"" + std::string(solver_->name()) + "\" with " + std::to_string(problem.rows()) + " rows of the scans");
  Options own = options_;
  own.tolerance = tolerance;
  own.workspace_limit = memory_.left_or(options_.workspace_limit);
  return solve_rows(*solver_, problem, own, run_);
}

void PoolSolver::take_weights_of_sample(const Problem& sample, Solution& proven) const {
  const std::string exact = "cutting_plane";  // the only one whose proofs come with such weights
  const std::size_t at = proven.solver.find(exact);
  if (proven.status != Status::not_separable || at == std::string::npos) return;
  Solution s = proven;
  s.solver = proven.solver.substr(0, at + exact.size());
  s.iterations = 0;
  Options own = options_;
  own.max_iterations.reset();
  own.workspace_limit = memory_.left_or(options_.workspace_limit);
  const QuietProgress quiet(run_.progress());
  s = with_soft_weights(sample, own, quiet, run_.run(), std::move(s), 0);
  if (s.iterations > 0) proven = std::move(s);
}

void PoolSolver::ask_for_rows(Question& question, std::int32_t bags) const {
  const std::int64_t wanted = std::min(most_rows, first_rows << std::min<std::int64_t>(run_.scans() - 1, 8));
  question.bag_rows = std::clamp(rows_of_all_bags / bags, fewest_rows, wanted);
  const double bytes = std::min(static_cast<double>(problem_.bag_bytes), share_of_answer * most_bytes_);
  question.bag_bytes = std::max<std::int64_t>(1, static_cast<std::int64_t>(bytes) / bags);
}

bool PoolSolver::grow(Answer& answer, std::int32_t bags) {
  if (static_cast<double>(pool_.rows().bytes()) > most_bytes_)
    pool_.shrink(share_that_stays * most_bytes_, run_.progress());
  std::int64_t added = 0;
  for (std::int32_t b = 0; b < bags; ++b) added += pool_.add(answer.bag(b), run_.progress());
  return added > 0;
}

std::vector<std::uint64_t> PoolSolver::support(const Solution& solution) {
  std::vector<std::uint64_t> rows;
  for (Eigen::Index i = 0; i < solution.dual.rows(); ++i) {
    run_.progress().work(8.0 * static_cast<double>(solution.dual.cols()));
    if (solution.dual.row(i).isZero(0)) continue;
    rows.push_back(pool_.identity(i));
    pool_.touch(i);
  }
  return rows;
}

ScanSolution solve_by_pool(const ScanProblem& problem, const Options& options, ScanRun& run, MemoryBudget memory) {
  return problem.sample().interpolate ? solve_interpolation_by_pool(problem, options, run, memory)
                                      : solve_margin_by_pool(problem, options, run, memory);
}

}  // namespace margin
