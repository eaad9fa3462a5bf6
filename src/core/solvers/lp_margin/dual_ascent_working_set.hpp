// dual_ascent with a working set: the maximum lp margin at the price of a few scans, as cutting_plane for l2.
#pragma once

#include "core/base/progress.hpp"
#include "core/solvers/solver.hpp"

namespace margin {

/// Two classes, 1 < norm < 2.
Solution solve_by_working_set(const Problem& problem, const Options& options, const Progress& progress);

}  // namespace margin
