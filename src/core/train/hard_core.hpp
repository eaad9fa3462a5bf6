// The hard core of two classes (Telgarsky 2013, Section 4): the rows that no w gains margin on without losing it on others.
//
// z_i = y_i x_i. A row is off the core if some w has <z_i, w> > 0 and <z_j, w> ≥ 0 for all rows j; the rows on it have weights
// q > 0 with Σ q_i z_i = 0, and so every w that errs on none of them is 0 on all. Both are proofs, and each round has one: the
// shortest w with <z_i, w> ≥ 0 for the rows that are left and Σ <z_i, w> ≥ their number (loss 'interpolate', ranges as targets)
// takes those away that it is above 0 on; where there is none, the dual vector of the contradiction is such a q.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/memory_limit.hpp"
#include "core/base/progress.hpp"
#include "core/data/dataset.hpp"

namespace margin {

/// Of each row its q, of sum 1, and 0 off the core; all 0 where there is no core, and something separates the rows. There
/// is no intercept. Throws Error: not two classes; rows that rounding cannot tell apart.
std::vector<double> hard_core(const Dataset& data, const Progress& progress, MemoryBudget memory = {});

}  // namespace margin
