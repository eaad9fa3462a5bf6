// Weighted Gram matrices of the rows.
#pragma once

#include <vector>

#include "core/data/gram_block.hpp"
#include "core/math/symmetric_matrix.hpp"
#include "core/solvers/newton/rows.hpp"

namespace margin {

/// GramBlock over the rows of a problem.
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
