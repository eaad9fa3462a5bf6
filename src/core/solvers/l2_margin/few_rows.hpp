// The margin of a few rows of two classes: what cutting_plane does, in one piece of memory. Of a million groups of
// twenty rows each, most of its time went into containers.
#pragma once

#include <optional>

#include "core/base/progress.hpp"
#include "core/solvers/interval.hpp"

namespace margin {

/// What two rounds of cutting_plane find.
struct FewRowsMargin {
  MarginBounds first;  ///< after the first round, of the difference of the means
  BestMargin best;     ///< after the second, in the units of the rows
  Eigen::VectorXd q;   ///< of each row, the weights of the upper bound: ≥ 0, summing to 1
};

/// The point of least norm in the hull of all rows, to `accuracy` as MinNormPoint::solve() takes it. None where the
/// problem is not one of two classes and at most 64 rows, and where rounding stands in the way: then the methods for
/// any problem have the answer. The bounds are of the vectors that come with them, whatever the accuracy.
std::optional<FewRowsMargin> margin_of_few_rows(const Problem& problem, double accuracy, const Progress& progress);

}  // namespace margin
