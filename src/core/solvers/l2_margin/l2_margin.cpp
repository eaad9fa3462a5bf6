#include "core/solvers/l2_margin/l2_margin.hpp"

#include <algorithm>

namespace margin {

void balance_dual(const Problem& problem, Weights& dual, const Progress& progress) {
  if (problem.outputs() == 1 || !problem.intercept) return;
  const std::int32_t k = problem.classes;
  auto own = [&](Eigen::Index i) { return problem.label[static_cast<std::size_t>(i)]; };
  Eigen::MatrixXd mass = Eigen::MatrixXd::Zero(k, k);
  for (Eigen::Index i = 0; i < dual.rows(); ++i) {
    progress.work(4.0 * k);
    for (std::int32_t c = 0; c < k; ++c)
      if (c != own(i)) mass(own(i), c) += dual(i, c);
  }
  const Eigen::VectorXd scales = balancing_scales(mass, progress);
  for (Eigen::Index i = 0; i < dual.rows(); ++i) {
    progress.work(8.0 * k);
    for (std::int32_t c = 0; c < k; ++c)
      if (c != own(i)) dual(i, c) *= scales(own(i)) / scales(c);
  }
}

Weights mean_difference(const Problem& problem, std::int64_t sample, const Progress& progress) {
  const std::int64_t n = problem.rows(), step = std::max<std::int64_t>(1, n / std::max<std::int64_t>(1, sample));
  Weights sums = Weights::Zero(problem.classes, problem.dimensions());
  Eigen::VectorXd count = Eigen::VectorXd::Zero(problem.classes);
  // A class that the sample misses would leave no direction for it, so every class gives at least its first rows.
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int32_t c = problem.label[static_cast<std::size_t>(i)];
    progress.work(2);
    if (i % step != 0 && count(c) >= 1) continue;
    const Row x = problem.data.row(i);
    progress.work(x.count);
    add(1.0, x, sums.row(c).data());
    count(c) += 1;
  }
  for (std::int32_t c = 0; c < problem.classes; ++c) sums.row(c) /= std::max(1.0, count(c));
  if (problem.outputs() > 1) {
    const Eigen::RowVectorXd mean = sums.colwise().mean();
    sums.rowwise() -= mean;
    return sums;
  }
  Weights w(1, problem.dimensions());
  w.row(0) = problem.intercept ? Eigen::RowVectorXd(sums.row(1) - sums.row(0))
                               : Eigen::RowVectorXd((count(1) * sums.row(1) - count(0) * sums.row(0)) / count.sum());
  return w;
}

}  // namespace margin
