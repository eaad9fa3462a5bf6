// The fall-back that cutting_plane shares with the solver of that name.
#pragma once

#include "core/solvers/l2_margin/first_order.hpp"
#include "core/solvers/run.hpp"

namespace margin {

/// Carries on with momentum where another solver ran out of precision or memory. Takes over `run` and returns the
/// better of both primal and dual vectors.
Solution continue_with_momentum(const Problem& problem, const Options& options, Run& run, Solution stopped,
                                const MarginBounds& known);

}  // namespace margin
