// A loss of many rows at once, by the loops of simd/ where it has one: for code that visit() compiles per loss.
#pragma once

#include "core/loss/registry.hpp"
#include "core/simd/loops.hpp"

namespace margin {

/// φ and φ' of n rows.
template <class L>
void evaluate(const L& loss, const double* u, const double* y, std::size_t n, double* value, double* slope) {
  for (std::size_t i = 0; i < n; ++i) {
    value[i] = loss.value(u[i], y[i]);
    slope[i] = loss.derivative(u[i], y[i]);
  }
}
inline void evaluate(const Logistic&, const double* u, const double* y, std::size_t n, double* value, double* slope) {
  simd().logistic(u, y, n, value, slope);
}

/// −φ*(−a) of n rows; an a that rounding moved out of the domain counts as its nearest end.
template <class L>
void negative_conjugate(const L& loss, const double* a, const double* y, std::size_t n, double* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = -loss.conjugate(loss.project(a[i], y[i]), y[i]);
}
inline void negative_conjugate(const Logistic&, const double* a, const double*, std::size_t n, double* out) {
  simd().entropy(a, n, out);
}

}  // namespace margin
