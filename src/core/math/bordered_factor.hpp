// A small symmetric system that needs no pivoting, of which lines at the end come and go between one solve and the next:
// L D Lᵀ, column after column (left-looking; Golub, Van Loan 2013, 4.1). A line of the factor depends on those before it alone.
#pragma once

#include <cstddef>
#include <vector>

#include "core/simd/add_rows.hpp"

namespace margin {

class BorderedFactor {
 public:
  explicit BorderedFactor(std::size_t most_lines);

  /// An entry of a new line, column ≤ line.
  void set(std::size_t line, std::size_t column, double value) { columns_[column * stride_ + line] = value; }
  /// The first `known` lines are those of the last solve; all entries of the others have been set. `right` becomes the solution.
  /// False where a pivot is 0 or no number.
  bool solve(std::size_t known, std::size_t lines, double* right);

 private:
  const AddRows add_rows_ = add_rows_of(simd());
  std::size_t stride_;
  std::vector<double> columns_, pivots_, factors_, work_;
  std::vector<const double*> from_;
};

}  // namespace margin
