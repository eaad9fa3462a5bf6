// A free intercept with k classes. Ordered pair (a, c) means "a row of class a against the rival c"; its margin gains
// b_a − b_c. The exact best intercepts, and the row weights that make the intercepts vanish from the dual, are two
// small graph problems on k nodes. With two classes both have a closed form.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <vector>

#include "core/base/progress.hpp"

namespace margin {

/// The intercepts that make the smallest pair margin largest.
struct Offsets {
  double value = 0;        ///< max_b min_{a≠c} smallest(a, c) + b_a − b_c
  Eigen::VectorXd offset;  ///< one b per class, b_0 = 0
};

/// Told about the operations done, so that it can ask for interrupts; may throw.

/// `smallest(a, c)` = min over rows of class a of score_a − score_c without intercepts (+∞: no such row; the diagonal
/// is ignored). The value is the smallest mean of a cycle of the complete graph on the classes, found by policy
/// iteration (Howard 1960; Cochet-Terrasson et al. 1998): O(k²) a step, and few steps. The offsets are potentials that
/// prove it: the mean of a cycle bounds the value from above, and it is recomputed from the offsets.
Offsets best_offsets(const Eigen::MatrixXd& smallest, const Progress& progress = {});

/// Row weights q satisfy the constraint of a free intercept when for every class the weight of its rows equals the
/// weight of the rows that have it as rival. `mass(a, c)` = Σ q over pair (a, c). Returns scales s such that
/// mass(a, c) · s_a / s_c is balanced (Osborne 1960, then Newton). Pairs that lie on no cycle end with weight 0.
Eigen::VectorXd balancing_scales(const Eigen::MatrixXd& mass, const Progress& progress = {});

}  // namespace margin
