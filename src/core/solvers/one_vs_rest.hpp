// Hard margins in other norms than l2 tell k classes apart by k problems of two classes each.
#pragma once

#include <functional>

#include "core/solvers/solver.hpp"

namespace margin {

/// Class `output` as +1 against all others as −1; two classes: the problem itself. Shares the rows.
Problem against_the_rest(const Problem& problem, std::int32_t output);

/// Solves one problem of two classes.
using SolveBinary = std::function<Solution(const Problem&, const Options&, Monitor&)>;

/// Solves output after output and puts the solutions together: weights k × d, dual n × k. Every output may take
/// max_iterations; max_seconds bounds all of them. The history lists the outputs one after another.
Solution solve_one_vs_rest(const Problem& problem, const Options& options, Monitor& monitor, const SolveBinary& solve);

}  // namespace margin
