// Sums whose numbers have ends: what coordinate ascent adds to the weights of a row between bounds.
#pragma once

#include "core/simd/loops.hpp"

namespace margin {

/// z += a x, and w is z cut to [low, high], number by number; all n long.
struct CutSums {
  void (*add_f)(double a, const float* x, std::size_t n, const double* low, const double* high, double* z, double* w);
  void (*add_d)(double a, const double* x, std::size_t n, const double* low, const double* high, double* z, double* w);
};
CutSums cut_sums_of(const SimdLoops& set);

}  // namespace margin
