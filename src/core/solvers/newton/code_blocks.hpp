// A preconditioner for rows as codes.
//
// The steps of a term are nested: feature k is 1 in the rows of a code above k. So the block of I + Σ c x xᵀ of a term's steps is
// I + Cᵀ diag(g) C with C the running sums and g_k = Σ c of the rows whose last step is k. For p = Cx it is a tridiagonal system,
// (C⁻ᵀC⁻¹ + diag(g)) p = C⁻ᵀ r: as many operations as numbers. Its diagonal alone, of columns that are nearly the same, would be none.
// Indicators of a term are never 1 in one row, so that their block is a diagonal.
#pragma once

#include <vector>

#include "core/data/coded_rows.hpp"

namespace margin {

class CodeBlocks {
 public:
  /// `sums`: Σ c x of each feature.
  CodeBlocks(const CodeLayout& layout, const double* sums);
  /// The entries of z of all steps: those of M⁻¹ r. The others stay.
  void solve(const double* r, double* z) const;

 private:
  struct Block {
    std::size_t first, steps, at;
  };
  std::vector<Block> blocks_;
  std::vector<double> inverse_;  // 1 over the pivots, block after block
};

}  // namespace margin
