// Decision trees of depth 2 as weak learners of boosting.
//
// For each split of the rows by a column, and each column again, the best stump of a side follows from the sums of the row
// weights below its thresholds: rows join the side one after another, in the order of the first column, and a binary tree over
// the values of the second keeps the smallest and the largest of these sums. So a search over all trees takes
// 2 d² n log₂ n steps.
#pragma once

#include <array>
#include <map>
#include <vector>

#include "core/base/progress.hpp"
#include "core/data/ranked_columns.hpp"
#include "core/data/stump_basis.hpp"
#include "core/solvers/l1_margin/weak_learners.hpp"

namespace margin {

/// All trees of depth 2 whose split tells rows apart; thresholds lie midway between neighbouring values of a column.
class TreeLearners final : public WeakLearners {
 public:
  TreeLearners(const Dataset& data, const Progress& progress) : rows_(data.rows()), ranked_(data, progress) {}
  Best best(const Eigen::VectorXd& v, const Progress& progress) override;
  void values(std::size_t learner, std::int64_t begin, std::int64_t end, double* out) const override;
  std::size_t size() const override { return found_.size(); }
  std::shared_ptr<const Basis> basis(const std::vector<std::size_t>& used, std::int32_t dimensions) const override;
  static double bytes(const Dataset& data) { return RankedColumns::bytes(data); }

 private:
  /// A column of ranked_ and the last of its ranks that is below the threshold.
  struct Cut {
    std::int32_t column = -1;  ///< −1: none
    std::uint32_t rank = 0;
  };
  struct Side {
    Cut cut;
    double above = 1;
  };
  struct Found {
    Cut split;
    Side below, above;
  };
  /// What one side of a split can add to an edge, and by which column.
  struct Gain {
    double edge = -1;
    std::int32_t column = 0;
  };
  struct Split {
    double edge = -1;
    Cut cut;
    std::int32_t below = 0, above = 0;
  };

  const RankedColumns::Column& column(std::int32_t c) const { return ranked_.columns()[static_cast<std::size_t>(c)]; }
  Split best_split(std::int32_t c, const double* v, const Progress& progress) const;
  Side best_side(const Cut& split, bool above, std::int32_t c, const double* v, const Progress& progress) const;
  Stump stump_of(const Cut& cut) const;
  TreeSide side_of(const Side& side) const;

  std::int64_t rows_;
  RankedColumns ranked_;
  std::vector<Found> found_;
  std::map<std::array<std::int64_t, 8>, std::size_t> known_;
};

}  // namespace margin
