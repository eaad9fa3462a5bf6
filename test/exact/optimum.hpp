// Optima of small problems from their Gram matrix, each proven by its own gap: enumeration of the pieces that the rows
// of an optimum can lie on, Newton's method for the logistic loss and for means, enumeration of the faces of a hull for hard margins.
#pragma once

#include <optional>

#include "losses.hpp"
#include "program.hpp"

namespace exact {

/// P* of (1/W) Σ c φ(u_i; y_i) + λ/2 ‖w‖² for one output. `free_intercept`: the intercept of kernel models.
struct SoftProblem {
  LossOf loss;
  Matrix gram;  ///< <x_i, x_j>, with the constant feature
  Vector y, c;
  Real total, lambda;
  bool free_intercept = false;
};
/// `start`: a dual vector that may be near the optimum. Nothing when no candidate has a gap of 1e-30 of P or less, or
/// when there are too many of them.
std::optional<Real> soft_optimum(const SoftProblem& p, const Vector& start);

/// The squared norm of the point of least norm in the hull of points with these inner products.
std::optional<Real> least_square(const Matrix& gram);

}  // namespace exact
