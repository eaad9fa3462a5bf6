// Weighted Gram matrices of the rows.
#pragma once

#include <memory>
#include <vector>

#include "core/data/gram_block.hpp"
#include "core/math/symmetric_matrix.hpp"
#include "core/solvers/newton/rows.hpp"

namespace margin {

/// GramBlock over the rows of a problem. Of few features, chunks of rows have a matrix each, which are added in their
/// order; matrices of many features are made row by row, and shared out by their panels (GramBlock). Of rows as codes: PairHistograms.
class GramSum {
 public:
  explicit GramSum(const NewtonRows& rows) : rows_(rows) {}
  /// weight_i ≥ 0; rows of weight 0 are not read.
  void add(const double* weight, SymmetricMatrix& sum);
  /// The same over listed rows only (weight still by row number), times a factor of any sign.
  void add(const std::vector<std::int64_t>& which, const double* weight, double factor, SymmetricMatrix& sum);

 private:
  /// rows(begin, end, block, sum, progress) adds the rows from `begin` to before `end` of `count` to a block.
  template <class Rows>
  void add_chunks(std::int64_t count, double factor, SymmetricMatrix& sum, Rows&& rows);

  void add_codes(const double* weight, double factor, SymmetricMatrix& sum);

  const NewtonRows& rows_;
  std::unique_ptr<GramBlock> block_;  // of sums in one chunk
};

}  // namespace margin
