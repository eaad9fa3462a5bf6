// Inner products without fused operations: their bits are those of every CPU, and of the sums and products of a SQL
// expression (formats/sql_expression.hpp). What predicts uses them; solvers take the fused loops of the table.
#pragma once

#include "core/simd/loops.hpp"

namespace margin {

/// x·y, rounded: never fused with an addition.
inline double plain_product(double x, double y) {
  double product = x * y;
#if defined(__x86_64__)
  __asm__("" : "+x"(product));
#elif defined(__aarch64__)
  __asm__("" : "+w"(product));
#else
  __asm__("" : "+m"(product));
#endif
  return product;
}

/// Σ x_j w_j over n numbers. Below 8 of them: from the left. Else of the largest multiple of 8, as eight sums side by
/// side, each of those of four blocks where 32 numbers and more are left; then of the rest, from the left.
struct PlainDots {
  double (*of_floats)(const float* x, const double* w, std::size_t n);
  double (*of_doubles)(const double* x, const double* w, std::size_t n);
};

/// The loops of the same instruction set as those of the table; all sets give the same bits.
PlainDots plain_dots_of(const SimdLoops& set);
inline const PlainDots& plain_dots() {
  static const PlainDots chosen = plain_dots_of(simd());
  return chosen;
}

}  // namespace margin
