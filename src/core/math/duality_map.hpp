// The duality map of lp norms: from the dual vector u = Σ α_i z_i to the weights that it stands for,
//
//   w_j ∝ |u_j|^(r−1) sign(u_j),   2 ≤ r < ∞, 1/p + 1/r = 1,
//
// the gradient of ½‖u‖_r² up to scale; <u, w> = ‖u‖_r ‖w‖_p. (Raj & Bach 2021, Section 3.)
#pragma once

#include <Eigen/Core>

namespace margin {

/// out_j = |scale · v_j|^exponent for exponent ≥ 0 and |scale · v_j| within the range of floats; 0 for v_j = 0 unless
/// the exponent is 0. Relative error about |exponent · ln|v_j|| ε.
void powers(const double* v, Eigen::Index n, double scale, double exponent, double* out);

/// Writes w_j = (|u_j|/max|u|)^(r−1) sign(u_j) and returns ‖u‖_r. Zeros for u = 0.
double dual_map(const Eigen::VectorXd& u, double r, Eigen::VectorXd& w);

}  // namespace margin
