// Newton's step where weights have bounds: the minimum of the second-order model between them,
//   min over d of <r, d> + ½ dᵀ (I + factor · Σ weight_i x_i x_iᵀ) d,   l ≤ w + d ≤ u,
// with 0 in I for the column of a free intercept. With a matrix: coordinate descent and Newton's steps on faces
// (solvers/elastic_net/l1_quadratic.hpp). Without: conjugate gradients over the weights that move, those that are at a bound and would leave it
// held there (Bertsekas 1982, projected Newton); weights that the step takes outside stop at their bound, and the others step once more.
#pragma once

#include <vector>

#include "core/math/symmetric_matrix.hpp"
#include "core/solvers/newton/conjugate_gradients.hpp"
#include "core/solvers/newton/rows.hpp"

namespace margin {

/// `gram` (its upper triangle) is Σ weight x xᵀ, `r` the gradient. Until the decrease left is about `enough`.
void step_between_bounds(const NewtonRows& rows, const SymmetricMatrix& gram, double factor,
                         const std::vector<double>& w, const std::vector<double>& r, double enough,
                         std::vector<double>& d);

/// The same without a matrix; a direction of descent in any case. The residual falls to `accuracy` of what it was.
void step_between_bounds(const NewtonRows& rows, ConjugateGradients& gradients, const double* weight, double factor,
                         const std::vector<double>& w, const std::vector<double>& r, double accuracy,
                         std::vector<double>& d);

}  // namespace margin
