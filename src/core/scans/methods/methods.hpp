// The methods that train by scans, and which of them a problem takes.
#pragma once

#include <functional>

#include "core/scans/scan_problem.hpp"
#include "core/solvers/solver.hpp"

namespace margin {

/// `first`: the answer to first_question(), with the sums of squares that a method may want. Vectors that come back are
/// in the units of the questions; a hard margin's weights have norm 1.
ScanSolution solve_by_scans(ScanProblem& problem, Answer& first, const Options& options, ScanRun& run,
                            MemoryBudget memory);

/// Scans, or directions, that may gain nothing before a method stops.
constexpr int most_idle = 6;

/// Rows in memory by one of the solvers, in what is left of the option max_seconds; max_iterations counts scans.
/// Weights that are not finite become 0.
Solution solve_rows(const Solver& solver, const Problem& rows, Options options, ScanRun& run);
/// Where the methods for risks begin (scans/methods/scan_start.cpp): the option `initial`, which take_initial() has seen, unless sampled
/// rows speak against it; otherwise the solution of the sampled rows.
Solution solve_sample(const ScanProblem& problem, const Options& options, ScanRun& run, double tolerance);
/// The same as (weights, intercept / constant) of an output.
void take_start(const Solution& sample, std::size_t output, double constant, std::vector<double>& w);

/// Hard margins and interpolation: rows that matter are kept, solved for in memory, and grown by scans (scans/methods/pool.hpp).
ScanSolution solve_by_pool(const ScanProblem& problem, const Options& options, ScanRun& run, MemoryBudget memory);
/// Smooth losses: the rows in memory and the second-order expansion of the others; of the squared loss the system is
/// known after the first scan (scans/methods/smooth.cpp). `wide`: without matrices, of any number of features
/// (scans/methods/smooth_wide.cpp).
/// `in_vain`: so many scans may gain nothing.
ScanSolution solve_smooth_scans(const ScanProblem& problem, Answer& first, const Options& options, ScanRun& run,
                                int in_vain = most_idle);
ScanSolution solve_smooth_wide(const ScanProblem& problem, const Options& options, ScanRun& run);
/// Classes that are trained jointly (scans/methods/joint_scans.cpp).
ScanSolution solve_joint_scans(const ScanProblem& problem, const Options& options, ScanRun& run);
/// Lambda 0: Newton's method (scans/methods/likelihood_scans.cpp). Where a direction separates the rows, its weights are in their own units,
/// and so is `problem` then.
ScanSolution solve_likelihood_scans(ScanProblem& problem, Answer& first, const Options& options, ScanRun& run);
/// Piecewise linear losses: rows near a kink are kept (scans/methods/band.cpp). `other_bound`, which may be empty, is asked once for a
/// bound of the optimum, with those known so far, where scans prove little more of a value that no longer falls.
using OtherBound = std::function<double(double lower, double upper)>;
/// `start` (null: that of the sample): weights to begin with.
ScanSolution solve_by_bands(const ScanProblem& problem, const Options& options, ScanRun& run,
                            const OtherBound& other_bound, const Solution* start = nullptr);
/// One-class machines: bands, in units of the rows (scans/methods/one_class_scans.cpp).
ScanSolution solve_one_class_scans(ScanProblem& problem, const Options& options, ScanRun& run);

}  // namespace margin
