// Loops over columns for bounds of their sums (data/column_bounds.hpp), where columns are so many that these count.
#pragma once

#include "core/simd/loops.hpp"

namespace margin {

/// What the numbers of a column are taken for: v of two vectors, the mean, how far it spreads, what errors are shares of.
struct MixedColumns {
  const double *first, *last, *means, *lengths, *sizes;
  double of_first, of_last, of_mean;  ///< centre = of_first · first + of_last · last + of_mean · mean
  double of_length, of_size, of_own, of_mean_size,
      least;  ///< radius = the sum of these · length, size, Σ |terms|, |mean|, and 1
};

struct ColumnLoops {
  /// Of n columns. The radius is 1 + `up` times that.
  void (*mix)(const MixedColumns& columns, double up, std::size_t n, double* centre, double* radius);
  /// The places where |centre| + radius is not below `least`, which it is not where it is no number; returns how many. There is
  /// room for n, and what follows the places there is overwritten.
  std::size_t (*reaching)(const double* centre, const double* radius, double least, std::size_t n,
                          std::int32_t* places);
};

/// The loops of this instruction set.
ColumnLoops column_loops_of(const SimdLoops& set);
inline const ColumnLoops& column_loops() {
  static const ColumnLoops chosen = column_loops_of(simd());
  return chosen;
}

}  // namespace margin
