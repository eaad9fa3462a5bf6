// k classes as k problems of two: one output after another, and what their solutions are together.
#pragma once

#include <functional>

#include "core/base/progress.hpp"
#include "core/solvers/solver.hpp"

namespace margin {

/// The status of two outputs together: one that is not separable says so for both, then a limit of time, then one of
/// iterations.
Status merged(Status a, Status b);

/// Zeros in the shape of `problem`, with the status of no outputs at all: optimal. `work(operations)` may throw.
Solution zero_solution(const Problem& problem, std::string_view solver, const Progress& progress);

/// Calls solve(o) for each output o, which puts its vectors into a solution and returns their status; `status` becomes
/// that of all. Between outputs `exhausted(why)`, where given, may end the loop: the limit `why` then counts as the
/// status of the rest. Returns how many outputs were solved.
std::int32_t solve_outputs(const Problem& problem, Status& status, const std::function<Status(std::int32_t)>& solve,
                           const std::function<bool(Status&)>& exhausted = nullptr);

/// Throws Error(wrong_dimensions) for a model to start from that has other weights than `outputs` x `features`, or intercepts.
void require_shape(const InitialModel& model, std::size_t outputs, std::size_t features);

/// Class `output` as +1 against all others as −1; two classes: the problem itself. Shares the rows.
Problem against_the_rest(const Problem& problem, std::int32_t output);

/// Solves one problem of two classes.
using SolveBinary = std::function<Solution(const Problem&, const Options&, const Progress&)>;

/// For solvers that know two classes only: solves the outputs, several at once on threads, and puts the solutions
/// together: weights k × d, dual n × k. Every output may take max_iterations; max_seconds bounds all of them, which are
/// then solved one after another, as where `workspace`, the bytes that one needs, is not there for all threads. The
/// history lists the outputs one after another.
Solution solve_one_vs_rest(const Problem& problem, const Options& options, const Progress& progress, double workspace,
                           const SolveBinary& solve);

}  // namespace margin
