// Below what a number of the minimum norm point is rounding.
#pragma once

namespace margin {

constexpr double zero_weight = 1e-14;     // weights sum to 1; below this a weight is rounding
constexpr double pivot_floor = 1e-14;     // relative pivot of a member that depends on the others
constexpr double rounding_floor = 1e-15;  // absolute error of a reduced gradient in units where ‖z‖ ≤ 1

}  // namespace margin
