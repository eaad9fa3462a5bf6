// Decision stumps: h(x) = +1 where feature f of the row is above a threshold t, else −1. As weak learners of boosting,
// as the basis of a model, and the certificate of such a model's l1 margin over all stumps.
#pragma once

#include <unordered_map>
#include <vector>

#include "basis.hpp"
#include "certificate.hpp"
#include "solvers/weak_learners.hpp"

namespace margin {

struct Stump {
  std::int32_t feature;
  double threshold;
  double operator()(double value) const { return value > threshold ? 1.0 : -1.0; }
};

/// The stumps of a model.
class StumpBasis final : public Basis {
 public:
  StumpBasis(std::vector<Stump> stumps, std::int32_t dimensions)
      : stumps_(std::move(stumps)), dimensions_(dimensions) {}
  std::int32_t size() const override { return static_cast<std::int32_t>(stumps_.size()); }
  std::int32_t dimensions() const override { return dimensions_; }
  void evaluate(const Row& x, double* values) const override;
  const std::vector<Stump>& stumps() const { return stumps_; }

 private:
  std::vector<Stump> stumps_;
  std::int32_t dimensions_;
};

/// All stumps that tell rows of the data apart: thresholds midway between neighbouring values of a column. The columns
/// are sorted once; the zeros of sparse rows are one group that is never written out.
class StumpLearners final : public WeakLearners {
 public:
  StumpLearners(const Dataset& data, Poller& poller);
  Best best(const Eigen::VectorXd& v, Poller& poller) override;
  void values(std::size_t learner, Eigen::VectorXd& out) const override;
  std::size_t size() const override { return stumps_.size(); }
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
  void sort_column(std::int32_t j, Poller& poller);
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

/// Both ends of the l1 margin over all stumps: lower from the weights of the basis, upper = the largest edge of the
/// dual weights over all stumps of the rows, by a sweep over the sorted columns of its own.
Certificate certify_stumps(const Problem& problem, const StumpBasis& basis, const Weights& weights,
                           const Eigen::VectorXd& intercept, const Weights& dual);

}  // namespace margin
