#include "core/solvers/l1_margin/weak_learners.hpp"

#include <cmath>

namespace margin {

FeatureLearners::FeatureLearners(const Problem& problem, double scale, const Progress& progress)
    : data_(problem.data), scale_(scale), columns_(problem.data, progress), edges_(problem.dimensions()) {}

/// By rows: those of weight 0, which soon are most, are not read.
WeakLearners::Best FeatureLearners::best(const Eigen::VectorXd& v, const Progress& progress) {
  edges_.setZero();
  for (std::int64_t i = 0; i < data_.rows(); ++i) {
    if (v(i) == 0) continue;
    const Row x = data_.row(i);
    progress.work(x.count + 4.0);
    add(scale_ * v(i), x, edges_.data());
  }
  Eigen::Index j = 0;
  edges_.cwiseAbs().maxCoeff(&j);
  return {static_cast<std::size_t>(j), edges_(j)};
}

void FeatureLearners::values(std::size_t learner, Eigen::VectorXd& out) const {
  out.setZero();
  add(scale_, columns_.column(static_cast<std::int32_t>(learner)), out.data());
}

}  // namespace margin
