// Features of encoded rows that are combinations of others: without a penalty they have no weights of their own.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/memory_limit.hpp"
#include "core/base/progress.hpp"
#include "core/data/row.hpp"
#include "core/math/symmetric_matrix.hpp"

namespace margin {

/// Finds them from the sum of outer products of all rows, by the thresholds of NormalEquations.
class CollinearFeatures {
 public:
  /// `constant`: beside an intercept; `held`: a feature that is not looked at, −1: none. Takes 16 bytes a pair of features from
  /// `memory`. Throws Error(limit_exceeded).
  CollinearFeatures(std::int32_t features, bool constant, std::int32_t held, MemoryBudget& memory);

  void add(const FeatureRow& x, double weight, const Progress& progress = {});
  /// What to leave out so that no combination of the others, or of them and a constant, is 0 in every row: of each such
  /// combination the last feature. Ascending.
  std::vector<std::int32_t> find(const Progress& progress) const;

 private:
  std::int32_t features_;
  bool constant_;
  std::int32_t held_;
  SymmetricMatrix gram_;  // the constant last
  std::vector<std::int32_t> at_;
  std::vector<double> value_;
};

}  // namespace margin
