// Weighted Gram matrices of the rows.
#pragma once

#include <vector>

#include "core/math/symmetric_matrix.hpp"
#include "core/solvers/newton/rows.hpp"

namespace margin {

/// Adds Σ weight_i x_i x_iᵀ to a matrix. Rows are packed, scaled by √weight, into column panels of some 256 rows, on
/// which the kernel runs from cache; thin sparse rows are multiplied out one by one.
class GramSum {
 public:
  explicit GramSum(const NewtonRows& rows);
  /// weight_i ≥ 0; rows of weight 0 are not read.
  void add(const double* weight, SymmetricMatrix& sum);
  /// The same over listed rows only (weight still by row number), times a factor of any sign.
  void add(const std::vector<std::int64_t>& which, const double* weight, double factor, SymmetricMatrix& sum);

 private:
  void push(std::int64_t i, double weight, double factor, SymmetricMatrix& sum);
  void flush(double factor, SymmetricMatrix& sum);

  const NewtonRows& rows_;
  std::size_t panels_;
  std::vector<double> packed_;
  std::size_t filled_ = 0;
};

}  // namespace margin
