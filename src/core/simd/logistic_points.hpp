// The logistic loss of many scores, with all that a certificate asks of it: one more inner loop, apart from the table
// (simd/loops.hpp) that every solver includes.
#pragma once

#include "core/simd/loops.hpp"

namespace margin {

/// ln(1 + exp(−y u)), y = ±1, of n scores, a multiple of 8: value, minus its slope in u, its second derivative, and
/// conjugate = b ln b + (1 − b) ln(1 − b) of b = |dual| as it was rounded. To 4 ulps of each as long as |u| ≤ 650; beyond
/// that no value and no conjugate is smaller than it should be by more.
using LogisticPoints = void (*)(const double* u, const double* y, std::size_t n, double* value, double* dual,
                                double* conjugate, double* second_derivative);

/// The loop of the same instruction set as those of the table.
LogisticPoints logistic_points_of(const SimdLoops& set);
inline LogisticPoints logistic_points() {
  static const LogisticPoints chosen = logistic_points_of(simd());
  return chosen;
}

}  // namespace margin
