// The variables of a kernel machine's dual: what a hard margin, a loss of straight pieces or a one-class machine makes of
// the rows.
#pragma once

#include <cstdint>
#include <vector>

#include "core/problem/problem.hpp"

namespace margin {

/// The variables of the dual of one output, max Σ t_v β_v − ½ βᵀKβ with low_v ≤ β_v ≤ high_v and, with an intercept,
/// Σ β_v = `sum`. The weight of a row is the sum of its variables': one where its loss has one kink, two for a tube.
struct SmoVariables {
  std::vector<std::int64_t> row;
  std::vector<double> target, low, high;
  double sum = 0;
  double unit = 1;  ///< about the size of a score: errors count as small or large in it

  /// Of a hard margin or a loss of straight pieces; `diagonal`: the largest k(x, x).
  SmoVariables(const Problem& problem, std::int32_t output, double diagonal);
  std::size_t size() const { return row.size(); }
};

}  // namespace margin
