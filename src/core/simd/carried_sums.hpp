// Many sums that carry their rounding errors, side by side: one more inner loop, apart from the table (simd/loops.hpp)
// that every solver includes.
#pragma once

#include "core/simd/loops.hpp"

namespace margin {

/// sum[k] += v[k], and lost[k] += what rounding took of that, for n sums: what ExactSum (math/exact_sum.hpp) adds, as both
/// find the error exactly. All sets give the same bits.
using AddCarried = void (*)(const double* v, std::size_t n, double* sum, double* lost);

/// The loop of the same instruction set as those of the table.
AddCarried add_carried_of(const SimdLoops& set);
inline AddCarried add_carried() {
  static const AddCarried chosen = add_carried_of(simd());
  return chosen;
}

}  // namespace margin
