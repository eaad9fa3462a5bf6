#include "core/solvers/l1_margin/weak_learners.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/data/row_part.hpp"
#include "core/data/row_pass.hpp"

namespace margin {

FeatureLearners::FeatureLearners(const Problem& problem, double scale, const Progress& progress)
    : data_(problem.data), scale_(scale), columns_(problem.data, progress), edges_(problem.dimensions()) {}

/// By rows: those of weight 0, which soon are most, are not read. Threads share the columns.
WeakLearners::Best FeatureLearners::best(const Eigen::VectorXd& v, const Progress& progress) {
  edges_.setZero();
  std::vector<std::int64_t> rows;
  double values = 0;
  for (std::int64_t i = 0; i < data_.rows(); ++i) {
    if (v(i) == 0) continue;
    rows.push_back(i);
    values += data_.row(i).count;
  }
  progress.work(static_cast<double>(data_.rows()) + static_cast<double>(rows.size()) * 4);
  const auto at = [&](std::int64_t k) { return rows[static_cast<std::size_t>(k)]; };
  add_rows(
      static_cast<std::int64_t>(rows.size()), [&](std::int64_t k) { return data_.row(at(k)); },
      [&](std::int64_t k) { return scale_ * v(at(k)); }, values, data_.dimensions(), edges_.data(),
      pass_threads(data_, progress), progress);
  Eigen::Index j = 0;
  edges_.cwiseAbs().maxCoeff(&j);
  return {static_cast<std::size_t>(j), edges_(j)};
}

void FeatureLearners::values(std::size_t learner, std::int64_t begin, std::int64_t end, double* out) const {
  std::fill(out + begin, out + end, 0.0);
  add_part(scale_, columns_.column(static_cast<std::int32_t>(learner)), static_cast<std::int32_t>(begin),
           static_cast<std::int32_t>(end), out);
}

}  // namespace margin
