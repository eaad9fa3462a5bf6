// Weighted Gram matrices of the rows.
#pragma once

#include <vector>

#include "core/math/symmetric_matrix.hpp"
#include "core/solvers/newton/rows.hpp"

namespace margin {

/// Adds weight x xᵀ to a matrix, row by row; `x` has one more column of the value `constant` where that is not 0. Rows
/// are packed, scaled by √weight, into column panels of some 256 rows, on which the kernel runs from cache; thin sparse
/// rows are multiplied out one by one. The matrix has all rows after flush().
class GramBlock {
 public:
  GramBlock(std::size_t features, double constant);
  /// weight ≥ 0, times a factor of any sign, the same for all rows between two calls of flush().
  void add(const Row& x, double weight, double factor, SymmetricMatrix& sum, const Progress& progress);
  void flush(double factor, SymmetricMatrix& sum, const Progress& progress);

 private:
  std::size_t features_, panels_;
  double constant_;
  std::vector<double> packed_;
  std::size_t filled_ = 0;
};

/// The same of the rows of a problem.
class GramSum {
 public:
  explicit GramSum(const NewtonRows& rows) : rows_(rows), block_(rows.features(), rows.constant()) {}
  /// weight_i ≥ 0; rows of weight 0 are not read.
  void add(const double* weight, SymmetricMatrix& sum);
  /// The same over listed rows only (weight still by row number), times a factor of any sign.
  void add(const std::vector<std::int64_t>& which, const double* weight, double factor, SymmetricMatrix& sum);

 private:
  const NewtonRows& rows_;
  GramBlock block_;
};

}  // namespace margin
