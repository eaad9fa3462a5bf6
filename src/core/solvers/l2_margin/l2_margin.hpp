// What the solvers of the l2 margin share: which problems they take, where they start, the dual vectors of k classes.
#pragma once

#include "core/solvers/margin_scan.hpp"

namespace margin {

/// Row weights of a multiclass problem made to satisfy the constraint of a free intercept exactly (balancing);
/// nothing to do for two classes, whose classes are normalised by the certificate.
void balance_dual(const Problem& problem, Weights& dual, const Progress& progress);

/// An evenly spaced sample's difference of class means: a start that costs a fraction of a pass.
Weights mean_difference(const Problem& problem, std::int64_t sample, const Progress& progress);

}  // namespace margin
