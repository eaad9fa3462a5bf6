// The fall-back that cutting_plane shares with the solver of that name.
#pragma once

#include "first_order.hpp"

namespace margin {

/// Carries on with momentum where another solver stopped short: for better ends when it ran out of precision or
/// memory, for weights that classify when it proved the rows not separable. Takes over `run` and returns the better
/// of both primal and dual vectors.
Solution continue_with_momentum(const Problem& problem, const Settings& settings, Run& run, Solution stopped,
                                const Interval& known);

}  // namespace margin
