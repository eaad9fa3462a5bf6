// dual_ascent on all rows: coordinate steps, plain or accelerated.
#pragma once

#include "core/base/progress.hpp"
#include "core/solvers/solver.hpp"

namespace margin {

/// Two classes, 1 < norm <= 2. Throws Error(unsupported) for accelerated steps with a free intercept.
Solution solve_coordinate_ascent(const Problem& problem, const Options& options, const Progress& progress);

}  // namespace margin
