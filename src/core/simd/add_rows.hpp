// Sums of many short rows: one more inner loop, apart from the table (simd/loops.hpp) that every solver includes.
#pragma once

#include "core/simd/loops.hpp"

namespace margin {

/// y += Σ a[r] x[r] over any number of rows of n numbers: y is loaded and stored once for all of them.
using AddRows = void (*)(const double* a, const double* const* x, std::size_t rows, double* y, std::size_t n);

/// The loop of the same instruction set as those of the table.
AddRows add_rows_of(const SimdLoops& set);

}  // namespace margin
