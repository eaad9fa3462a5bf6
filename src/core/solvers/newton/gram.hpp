// Weighted Gram matrices of the rows, and the Cholesky factorisation that solves with them.
#pragma once

#include <vector>

#include "core/base/large_array.hpp"
#include "core/solvers/newton/rows.hpp"

namespace margin {

/// A symmetric matrix by its upper triangle, row-major, with rows padded to whole panels of the rank_update kernel.
class SymmetricMatrix {
 public:
  explicit SymmetricMatrix(std::size_t size);
  /// Zeros of another size, in the same memory where they fit; `run` is told of the work.
  void reset(std::size_t size, Run& run);
  std::size_t size() const { return size_; }
  std::size_t stride() const { return stride_; }
  double* row(std::size_t j) { return values_.data() + j * stride_; }
  const double* row(std::size_t j) const { return values_.data() + j * stride_; }
  void set_zero();
  /// Bytes that a matrix of this size needs.
  static double bytes(std::size_t size);

 private:
  std::size_t size_, stride_;
  LargeArray values_;
};

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

/// Replaces the upper triangle by U, A = UᵀU (right-looking, in block rows whose trailing update is the rank_update
/// kernel). False when a pivot is not positive beyond rounding: the matrix is then partly overwritten. With
/// `semidefinite`, such a pivot's row of U is set to zero instead: what is left of it is rounding.
bool factorise(SymmetricMatrix& matrix, Run& run, bool semidefinite = false);

/// b <- A⁻¹ b with the factor from factorise(); `run` (null: none) is told of the work.
void solve_factored(const SymmetricMatrix& factor, double* b, Run* run = nullptr);

}  // namespace margin
