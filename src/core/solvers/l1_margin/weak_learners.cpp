#include "core/solvers/l1_margin/weak_learners.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/threads.hpp"
#include "core/data/row_part.hpp"

namespace margin {

namespace {
constexpr std::int64_t panel = 64;  // columns that stay together
}  // namespace

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
  const std::int64_t panels = (data_.dimensions() + panel - 1) / panel;
  const Chunks columns(panels, values / static_cast<double>(std::max<std::int64_t>(1, panels)));
  progress.threads().run(columns.count(), progress, [&](std::size_t k, const Progress& own) {
    const auto from = static_cast<std::int32_t>(columns.begin(k) * panel),
               to = static_cast<std::int32_t>(std::min<std::int64_t>(data_.dimensions(), columns.end(k) * panel));
    const double share = static_cast<double>(to - from) / data_.dimensions();
    for (const std::int64_t i : rows) {
      const Row x = data_.row(i);
      own.work(share * x.count + 4.0);
      add_part(scale_ * v(i), x, from, to, edges_.data());
    }
  });
  Eigen::Index j = 0;
  edges_.cwiseAbs().maxCoeff(&j);
  return {static_cast<std::size_t>(j), edges_(j)};
}

void FeatureLearners::values(std::size_t learner, Eigen::VectorXd& out) const {
  out.setZero();
  add(scale_, columns_.column(static_cast<std::int32_t>(learner)), out.data());
}

}  // namespace margin
