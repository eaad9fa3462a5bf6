// Weighted sums of outer products, row by row.
#pragma once

#include <vector>

#include "core/base/progress.hpp"
#include "core/data/row.hpp"
#include "core/math/symmetric_matrix.hpp"

namespace margin {

/// Adds weight x xᵀ to a matrix, row by row; `x` has one more column of the value `constant` where that is not 0. Rows
/// are packed, scaled by √weight, into column panels of some 256 rows, on which the kernel runs from cache; thin sparse
/// rows are multiplied out one by one. The matrix has all rows after flush().
class GramBlock {
 public:
  static constexpr std::size_t rows_per_block = 256;  // a panel of it (32 kB) fits the first-level cache beside another

  /// `rows`: how many are packed before they are multiplied; fewer take less memory.
  GramBlock(std::size_t features, double constant, std::size_t rows = rows_per_block);
  /// weight ≥ 0, times a factor of any sign, the same for all rows between two calls of flush().
  void add(const Row& x, double weight, double factor, SymmetricMatrix& sum, const Progress& progress);
  /// The same of dense columns, one for each feature, with a weight of each of their rows; and flush().
  void add_columns(const std::vector<Row>& x, const std::vector<double>& weight, double factor, SymmetricMatrix& sum,
                   const Progress& progress);
  void flush(double factor, SymmetricMatrix& sum, const Progress& progress);
  bool empty() const { return filled_ == 0; }

 private:
  void make_room();

  std::size_t features_, panels_, rows_;
  double constant_;
  std::vector<double> packed_;  // empty until a row is packed
  std::size_t filled_ = 0;
};

}  // namespace margin
