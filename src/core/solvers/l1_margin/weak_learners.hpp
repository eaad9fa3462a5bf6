// What boosting combines: functions of a row with values in [−1, 1].
#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "core/base/progress.hpp"
#include "core/data/basis.hpp"
#include "core/data/columns.hpp"
#include "core/problem/problem.hpp"

namespace margin {

class WeakLearners {
 public:
  virtual ~WeakLearners() = default;
  /// A learner h with the largest |Σ_i v_i h(x_i)|, and that sum. `v` is 0 where a row does not count.
  struct Best {
    std::size_t learner;
    double edge;
  };
  virtual Best best(const Eigen::VectorXd& v, const Progress& progress) = 0;
  /// out[i] = h(x_i) of the rows from `begin` to before `end`; for any number of threads at once.
  virtual void values(std::size_t learner, std::int64_t begin, std::int64_t end, double* out) const = 0;
  /// Learners named by best() have numbers below this.
  virtual std::size_t size() const = 0;
  /// These learners as the basis of a model, one that says nothing where there are none; null: they are the features.
  virtual std::shared_ptr<const Basis> basis(const std::vector<std::size_t>& /*used*/,
                                             std::int32_t /*dimensions*/) const {
    return nullptr;
  }
};

/// The features, all multiplied by one factor.
class FeatureLearners final : public WeakLearners {
 public:
  FeatureLearners(const Problem& problem, double scale, const Progress& progress);
  Best best(const Eigen::VectorXd& v, const Progress& progress) override;
  void values(std::size_t learner, std::int64_t begin, std::int64_t end, double* out) const override;
  std::size_t size() const override { return static_cast<std::size_t>(data_.dimensions()); }

 private:
  const Dataset& data_;
  double scale_;
  Columns columns_;
  Eigen::VectorXd edges_;
};

}  // namespace margin
