// The range of numbers that a training takes: checked here, so that no solver and no certificate meets squares that
// overflow or vanish. SimdLoops have a narrower one (kernel/kernel.hpp).
#pragma once

#include "core/base/progress.hpp"
#include "core/problem/problem.hpp"

namespace margin {

constexpr double largest_norm = 1e152, smallest_norm = 1e-152;

/// Norms of rows, targets and weights: each at most `largest_norm`, the largest of each 0 or at least `smallest_norm`.
/// Smaller ones beside it are harmless: what vanishes is part of every bound. Throws Error(invalid_value) that names
/// the row.
void require_range(const Dataset& rows, const Progress& progress);
/// The same of row weights times class weights.
void require_weight_range(const std::vector<double>& weights);

}  // namespace margin
