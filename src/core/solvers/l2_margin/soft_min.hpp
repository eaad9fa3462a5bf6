// The losses of the first-order hard-margin solvers, relative to a reference margin, so that none overflows.
#pragma once

#include <cmath>

namespace margin {

// A weight below e^-40 of the largest is set to 0: q stays a point of the simplex, so every certificate stays exact,
// and the pass reads such a row for its margin only.
constexpr double soft_min_cut_off = 40;

struct Soft {
  double slope;  // ℓ'(−m) · e^ref
  double value;  // ℓ(−m) · e^ref
};

inline Soft soft(bool logistic, double m, double ref) {
  if (!logistic || m > 36) {
    const double e = std::exp(ref - m);
    return {e, e};
  }
  const double lift = std::exp(ref);  // ref ≥ 0 for the logistic loss, and m ≥ ref − 300
  const double value = m > -36 ? std::log1p(std::exp(-m)) : -m;
  return {lift / (1 + std::exp(m)), lift * value};
}

/// e^ref ℓ'(ψ) with Σ ℓ(−m) = sum · e^-ref: what turns slopes into ∂ψ.
inline double psi_divisor(bool logistic, double sum, double ref) {
  if (!logistic || ref > 36) return sum;
  return -std::expm1(-sum * std::exp(-ref)) * std::exp(ref);
}

}  // namespace margin
