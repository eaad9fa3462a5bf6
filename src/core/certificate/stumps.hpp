// The certificate of an l1 margin over decision stumps (data/stump_basis.hpp): for λ ≥ 0 over any stumps, and any q ≥
// 0,
//
//   min_i y_i Σ_s λ_s h_s(x_i) / Σ λ  ≤  max margin  ≤  max_h |Σ_i q_i y_i h(x_i)| / Σ q
//
// where h runs over all stumps that tell rows apart. The upper bound is a sweep over every column in the order of its
// values, which shares nothing with the search of boosting: a stump that the solver missed widens the interval.
#pragma once

#include "core/base/progress.hpp"
#include "core/certificate/certificate.hpp"
#include "core/data/stump_basis.hpp"

namespace margin {

/// Bounds of the l1 margin over all stumps: lower from the weights of the basis, upper from the largest edge of the
/// dual weights. `weights`: outputs × basis size; `dual`: rows × outputs, or empty.
Certificate certify_stumps(const Problem& problem, const StumpBasis& basis, const Weights& weights,
                           const Eigen::VectorXd& intercept, const Weights& dual, const Progress& progress = {});

}  // namespace margin
