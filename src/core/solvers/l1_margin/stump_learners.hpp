// Decision stumps as weak learners of boosting.
#pragma once

#include <unordered_map>
#include <vector>

#include "core/base/progress.hpp"
#include "core/data/stump_basis.hpp"
#include "core/solvers/l1_margin/weak_learners.hpp"

namespace margin {

/// All stumps that tell rows of the data apart: thresholds midway between neighbouring values of a column. The columns
/// are sorted once; the zeros of sparse rows are one group that is never written out.
class StumpLearners final : public WeakLearners {
 public:
  StumpLearners(const Dataset& data, const Progress& progress);
  Best best(const Eigen::VectorXd& v, const Progress& progress) override;
  void values(std::size_t learner, std::int64_t begin, std::int64_t end, double* out) const override;
  std::size_t size() const override { return stumps_.size(); }
  std::shared_ptr<const Basis> basis(const std::vector<std::size_t>& used, std::int32_t dimensions) const override;
  /// The stumps that best() named, by number.
  const std::vector<Stump>& stumps() const { return stumps_; }
  /// Bytes of the sorted columns.
  static double bytes(const Dataset& data);

 private:
  struct Split {
    double edge = 0;
    std::int32_t feature = -1;
    std::size_t after = 0;  // entry of the column that is the last below the threshold; zeros: see at_zeros
    bool at_zeros = false;
  };
  struct SortedColumn {
    std::vector<std::uint32_t> entries;
    std::size_t zeros_at = 0;
    bool has_zeros = false;
  };
  SortedColumn sorted_column(std::int32_t j, const Progress& progress) const;
  Split best_split(std::int32_t first, std::int32_t end_feature, const Eigen::VectorXd& v, double total,
                   const Progress& progress) const;
  double value_of(std::int32_t feature, std::size_t entry) const;
  double threshold_of(const Split& split) const;

  const Dataset& data_;
  Columns columns_;
  // Entries of all columns, each column in order of its values: the row, and whether the next value is a larger one.
  std::vector<std::uint32_t> entries_;
  std::vector<std::size_t> begin_;
  std::vector<std::size_t> zeros_at_;  // per column: entry before which the group of implicit zeros lies
  std::vector<char> has_zeros_;
  std::vector<Stump> stumps_;
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> known_;  // by feature and bits of the threshold
};

}  // namespace margin
