// Norms ‖v‖_p and their duals, 1 ≤ p ≤ ∞.
#pragma once

#include <Eigen/Core>
#include <limits>

namespace margin {

/// The power of two nearest to 1 / `norm` (1 for 0): multiplying by it is exact.
double unit_scale(double norm);

/// (Σ |v_j|^p)^(1/p); p = ∞: the largest |v_j|. Neither overflows nor vanishes for values that do not.
/// Relative error at most (n + 16) ε, and `tiny` (math/rounding.hpp). ∞ where a value is no number.
double lp_norm(const double* v, Eigen::Index n, double p);

/// r with 1/p + 1/r = 1, for p ≥ 1 (infinity for p = 1).
inline double dual_exponent(double p) { return p == 1 ? std::numeric_limits<double>::infinity() : p / (p - 1); }

}  // namespace margin
