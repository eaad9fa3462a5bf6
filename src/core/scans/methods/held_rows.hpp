// Rows of one output that a method keeps in memory: those of the sample, and what scans bring along.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "core/scans/scan_problem.hpp"
#include "core/solvers/newton/newton.hpp"

namespace margin {

class HeldRows {
 public:
  explicit HeldRows(const ScanProblem& problem);

  /// The rows of a bag that are not here yet come behind the others. A row of the same bytes may be one that is here or
  /// another one: of those in two bags the more are distinct rows.
  void take(Bag& bag, const Progress& progress);
  /// There are more rows than should be.
  bool too_many(std::int64_t bag_bytes) const;
  /// Of the rows that bags brought only the half of smallest `distance` stays (one per row, those of the sample too).
  /// Returns which of all rows stay, in their order.
  std::vector<std::int64_t> forget(const std::vector<double>& distance);

  const Dataset& rows() const { return *rows_; }
  std::size_t size() const { return static_cast<std::size_t>(rows_->rows()); }
  /// For how many rows of the table row i stands: 1 but for sampled rows. Their weight in rows() counts all of them.
  double stands_for(std::size_t i) const { return i < stands_for_.size() ? stands_for_[i] : 1.0; }
  /// The rows of an output with their own costs, each for itself. `problem` is that of rows().
  NewtonProblem newton(const Problem& problem, std::int32_t output, NewtonProblem::Systems systems, Run& run) const;

 private:
  const ScanProblem& p_;
  const std::vector<double>& stands_for_;
  std::unique_ptr<Dataset> rows_;
  std::unordered_map<std::uint64_t, std::int64_t> copies_;  // by identity
  std::vector<std::uint64_t> identity_;                     // of the rows behind the sample
};

/// What a proximal term weighs each column with: 1, the penalty's own weight, and a hundredth of the largest curvature that
/// losses of slope 1 per unit can have along it, Σ cost x_j² of the sample; the intercept's column last, where there is one.
std::vector<double> proximal_weights(const ScanProblem& problem);

}  // namespace margin
