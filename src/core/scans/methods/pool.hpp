// What hard margins and interpolation by scans share: solving the rows of a pool with a solver of the registry.
#pragma once

#include <cstdint>
#include <vector>

#include "core/scans/methods/methods.hpp"
#include "core/scans/methods/row_pool.hpp"
#include "core/solvers/solver.hpp"

namespace margin {

class PoolSolver {
 public:
  /// Checks solver and options, as train() does. Everything must outlive it but the memory.
  PoolSolver(const ScanProblem& problem, const Options& options, ScanRun& run, MemoryBudget memory);

  const RowPool& pool() const { return pool_; }
  /// Vectors for `problem`, whose rows are those of the pool. What left the range of double is 0.
  Solution solve(const Problem& problem, double tolerance);
  /// Of a solution that proves its rows not separable, and has weights of a soft margin on rows that scans picked for
  /// being hard: the weights of one on the sample, of `sample` rows.
  void take_weights_of_sample(const Problem& sample, Solution& proven) const;
  /// What a scan may bring along in each of so many bags: more from scan to scan.
  void ask_for_rows(Question& question, std::int32_t bags) const;
  /// Takes in the rows of an answer; true when there were new ones. Where memory is short, rows that have not mattered
  /// for longest make room.
  bool grow(Answer& answer, std::int32_t bags);
  /// Who the rows with a dual weight are. They matter.
  std::vector<std::uint64_t> support(const Solution& solution);

 private:
  const ScanProblem& problem_;
  const Options& options_;
  ScanRun& run_;
  MemoryBudget memory_;
  double most_bytes_;  // of rows that answers bring
  RowPool pool_;
  const Solver* solver_;
};

/// Both by scans; see methods.hpp.
ScanSolution solve_margin_by_pool(const ScanProblem& problem, const Options& options, ScanRun& run,
                                  MemoryBudget memory);
ScanSolution solve_interpolation_by_pool(const ScanProblem& problem, const Options& options, ScanRun& run,
                                         MemoryBudget memory);

}  // namespace margin
