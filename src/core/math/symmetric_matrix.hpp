// A symmetric positive definite system: the matrix by its upper triangle, its Cholesky factor, and solving with that.
#pragma once

#include <cstddef>

#include "core/base/large_array.hpp"
#include "core/base/progress.hpp"
#include "core/simd/loops.hpp"

namespace margin {

/// A symmetric matrix by its upper triangle, row-major, with rows padded to whole panels of the rank_update kernel.
class SymmetricMatrix {
 public:
  explicit SymmetricMatrix(std::size_t size);
  /// Zeros of another size, in the same memory where they fit; `progress` is told of the work.
  void reset(std::size_t size, const Progress& progress);
  std::size_t size() const { return size_; }
  std::size_t stride() const { return stride_; }
  double* row(std::size_t j) { return values_.data() + j * stride_; }
  const double* row(std::size_t j) const { return values_.data() + j * stride_; }
  void set_zero();
  /// Bytes that a matrix of this size needs.
  static double bytes(std::size_t size);
  /// The panels of `panel_width` columns that `columns` columns fill.
  static constexpr std::size_t panel_width = panel_bytes / sizeof(double);
  static std::size_t panels_of(std::size_t columns) { return (columns + panel_width - 1) / panel_width; }

 private:
  std::size_t size_, stride_;
  LargeArray values_;
};

/// Takes column `j` out of a system: its row and column become those of the identity.
void decouple(SymmetricMatrix& matrix, std::size_t j);

/// Replaces the upper triangle by U, A = UᵀU (right-looking, in block rows whose trailing update is the rank_update
/// kernel). False when a pivot is not positive beyond rounding: the matrix is then partly overwritten. With
/// `semidefinite`, such a pivot's row of U is set to zero instead: what is left of it is rounding.
bool factorise(SymmetricMatrix& matrix, const Progress& progress, bool semidefinite = false);

/// The factor of the first `n` rows without row and column `at`, from theirs, by rotations.
void remove_factored(SymmetricMatrix& factor, std::size_t n, std::size_t at, const Progress& progress);

/// b <- A⁻¹ b with the factor from factorise(); `progress` (null: none) is told of the work.
void solve_factored(const SymmetricMatrix& factor, double* b, const Progress* progress = nullptr);
/// Of the first `n` rows.
void solve_factored(const SymmetricMatrix& factor, std::size_t n, double* b, const Progress* progress);

}  // namespace margin
