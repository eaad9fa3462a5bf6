// What certificates allow for: a sum, product, quotient or root of doubles is off by half an epsilon of its size, and a
// product or quotient that underflows by half of `tiny` as well. Sums never underflow.
#pragma once

#include <cmath>
#include <limits>

namespace margin {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr double tiny = std::numeric_limits<double>::denorm_min();
/// Below it a number has fewer digits, and its reciprocal may be none.
constexpr double smallest_normal = std::numeric_limits<double>::min();

/// What may be no number, as a bound from above: a NaN proves nothing.
inline double or_infinity(double v) { return std::isnan(v) ? infinity : v; }

}  // namespace margin
