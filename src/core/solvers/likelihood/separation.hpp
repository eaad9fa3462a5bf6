// Classes that some weights separate, or separate but for rows on the boundary: the likelihood grows along them without
// end, and no weights are the best (Albert, Anderson 1984, Biometrika 71). So it does where weights lower the means of
// rows with the count 0 alone, and leave those of all others as they are (Santos Silva, Tenreyro 2010, Economics Letters
// 107).
#pragma once

#include <vector>

#include "core/solvers/newton/rows.hpp"
#include "core/solvers/run.hpp"

namespace margin {

/// Scores beyond this are not fitted, they run away: a row would be wrong once in 10^8.
constexpr double runaway_score = 18;

/// The components of a direction, in units of the largest, as multiples of one small fraction; false where they are none.
bool round_direction(std::vector<double>& v);

/// Whether a direction of runaway weights, of which `step` has many digits, has no row on the wrong side and some on
/// the right one. Rows on its boundary have a score of 0 only where its components do: they are rounded to ratios of
/// small whole numbers, which dummy columns and counts have. If so, `w` becomes that direction.
bool separating_direction(const Problem& problem, const NewtonRows& rows, const std::vector<double>& step,
                          std::vector<double>& w, Run& run);

}  // namespace margin
