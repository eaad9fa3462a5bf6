// Newton's step where weights have bounds: the minimum of the second-order model between them,
//   min over d of <r, d> + ½ dᵀ (I + factor · Σ weight_i x_i x_iᵀ) d,   l ≤ w + d ≤ u,
// with 0 in I for the column of a free intercept: conjugate gradients on one face of the box after the other.
//
// Face:    preconditioned conjugate gradients on the weights that are at no end. A step that would leave the box is cut to it, and taken where the
//          model is then lower than where the box ends on its way; else that far, and a step of the gradient follows, cut to the box,
//          so that many ends can come and go at once.
// Ends:    weights whose gradient points inside leave their ends as soon as that is more of the gradient than what is left in the face.
// Stops:   at a share of the gradient and of the gap that the penalty leaves, or after so many products. The model's value falls with every
//          step, so that it ends.
// Matrix:  as products with the rows, preconditioned as they are without bounds; or stored, where the first face, and others that last,
//          are solved by a Cholesky factor.
// Source:  Dostál, Schöberl 2005 (modified proportioning with reduced gradient projections); the cut steps as in Moré, Toraldo 1991. All
//          lengths are in units of the diagonal, in which a box is a box.
#pragma once

#include <vector>

#include "core/math/symmetric_matrix.hpp"
#include "core/solvers/newton/conjugate_gradients.hpp"
#include "core/solvers/newton/rows.hpp"

namespace margin {

/// How far a step goes: what is left of the gradient falls to `accuracy` of what it was, unless that takes more than so many products.
struct BoxEffort {
  double accuracy;
  int products = 1000;
};

/// Of a piecewise loss, whose free rows change from one system to the next: where a system is sharp, one face after the other is gone through
/// for bounds that the next system may leave again, and more products do not pay.
constexpr int paying_products = 50;

/// `gram` (its upper triangle) is Σ weight x xᵀ, `r` the gradient. A direction of descent in any case.
void step_between_bounds(const NewtonRows& rows, const SymmetricMatrix& gram, double factor,
                         const std::vector<double>& w, const std::vector<double>& r, const BoxEffort& effort,
                         std::vector<double>& d);

/// The same without a matrix.
void step_between_bounds(const NewtonRows& rows, ConjugateGradients& gradients, const double* weight, double factor,
                         const std::vector<double>& w, const std::vector<double>& r, const BoxEffort& effort,
                         std::vector<double>& d);

}  // namespace margin
