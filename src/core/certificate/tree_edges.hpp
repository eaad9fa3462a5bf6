// The largest edge of row weights over all decision trees of depth 2 (data/stump_basis.hpp) whose split tells rows apart: a sweep
// over all pairs of columns that shares nothing with the search of boosting but the ranks of the values and their sums.
#pragma once

#include <Eigen/Core>

#include "core/base/progress.hpp"
#include "core/data/ranked_columns.hpp"

namespace margin {

/// max_h |Σ_i v_i h(x_i)|, within 4 (n + 64) u Σ |v_i|; 0 where no column tells rows apart.
double largest_tree_edge(const RankedColumns& ranked, const Eigen::VectorXd& v, const Progress& progress);

}  // namespace margin
