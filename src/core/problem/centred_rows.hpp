// Rows for a solver, where columns lie far from 0 next to what they spread, as a time in milliseconds does: its own sums would lose
// the spread to rounding. Beside a free intercept it makes no difference where features are measured from: here, from the first row.
#pragma once

#include <optional>

#include "core/base/memory_limit.hpp"
#include "core/base/progress.hpp"
#include "core/data/shifted_rows.hpp"
#include "core/problem/problem.hpp"

namespace margin {

/// The rows as a solver gets them; a certificate sees those that were given.
class CentredRows {
 public:
  /// A copy of the rows where one is needed and `memory` allows it.
  CentredRows(const Problem& problem, const Options& options, const Progress& progress, MemoryBudget& memory);
  CentredRows(const CentredRows&) = delete;
  CentredRows& operator=(const CentredRows&) = delete;

  /// Null: the rows that were given are as good.
  const Dataset* rows() const { return copy_.has_value() ? &*copy_ : nullptr; }
  /// A model of rows(), as one of the rows that were given.
  void give_back(const Weights& weights, Eigen::VectorXd& intercept) const;

 private:
  ShiftedRows shifted_;
  std::optional<Dataset> copy_;
};

}  // namespace margin
