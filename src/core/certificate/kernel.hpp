// The certificate of kernel models, from the returned vectors and the rows alone; it knows no solver. A kernel model is
// w = Σ_s weights_s k(x_s, ·), and everything that it needs is a sum of kernel values:
//
//   ‖w‖² = weightsᵀ K weights,   <w, z_i> = y_i Σ_s weights_s k(x_i, x_s),   ‖Σ q z‖² = (q y)ᵀ K (q y).
//
// Hard margin (with its free intercept or without): the interval of certificate/l2_margin.hpp. Soft margin, of one
// output:
//
//   P = λ/2 ‖w‖² + (1/W) Σ c_i φ(w(x_i) + b; y_i),
//   D = (1/W) Σ c_i (−φ*(−a_i; y_i)) − ‖v‖²/(2λ),   v = (1/W) Σ c_i a_i k(x_i, ·),
//
// where the intercept b is free and not regularised, unlike that of linear soft margins (certificate/risk.hpp), so that
// D counts only for Σ c_i a_i = 0: the heavier sign's a is scaled down to that, and what rounding leaves of the sum is
// charged at the largest |b| that an optimum can have. Several outputs, one against the rest, add up.
//
// Each bound is moved outward by a bound on the rounding of its kernel values and sums.
#pragma once

#include "core/base/progress.hpp"
#include "core/certificate/certificate.hpp"
#include "core/kernel/support_vectors.hpp"

namespace margin {

/// `weights`: outputs × basis size, of any norm; `intercept` per output; `dual` as in Solution.
Certificate certify_kernel(const Problem& problem, const Weights& weights, const KernelBasis& basis,
                           const Eigen::VectorXd& intercept, const Weights& dual, const Progress& progress = {});

}  // namespace margin
