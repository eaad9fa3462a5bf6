#include "kernel_basis.hpp"

#include <algorithm>

#include "monitor.hpp"

namespace margin {

void KernelBasis::evaluate(const Row& x, double* values) const {
  KernelPoint point;
  rows_.set(point, x);
  rows_.evaluate({&point}, 0, rows_.size(), &values);
}

SupportVectors support_vectors(const Problem& problem, const KernelRows& rows, const Weights& coefficients) {
  std::vector<std::int64_t> origin;
  for (Eigen::Index i = 0; i < coefficients.rows(); ++i)
    if (coefficients.row(i).cwiseAbs().maxCoeff() > 0) origin.push_back(i);
  if (origin.empty()) origin.push_back(0);
  double values = 0;
  for (const std::int64_t i : origin) values += problem.data.row(i).count;
  KernelRows kept(rows.shared_kernel(), rows.dimensions(), rows.layout());
  kept.reserve(origin.size(), values);
  Poller poller(problem.monitor);
  Weights weights(coefficients.cols(), static_cast<Eigen::Index>(origin.size()));
  for (std::size_t s = 0; s < origin.size(); ++s) {
    kept.append(problem.data.row(origin[s]));
    weights.col(static_cast<Eigen::Index>(s)) = coefficients.row(origin[s]).transpose();
    poller.work(kept.append_operations(problem.data.row(origin[s])));
  }
  const bool sparse = problem.data.sparse_input() || rows.layout() == Layout::sparse;
  return {std::make_shared<KernelBasis>(std::move(kept), sparse, std::move(origin)), std::move(weights)};
}

double squared_norm(const KernelBasis& basis, const double* weights, const std::function<void(double)>& poll) {
  const KernelRows& rows = basis.rows();
  std::vector<double> values(rows.size());
  double* const at = values.data();
  KernelPoint point;
  double sum = 0;
  for (std::size_t s = 0; s < rows.size(); ++s) {
    rows.set(point, s);
    rows.evaluate({&point}, 0, rows.size(), &at);
    values[s] = rows.diagonal(s);
    sum += weights[s] * kernels().dot_dd(values.data(), weights, values.size());
    poll(static_cast<double>(rows.size()) * rows.operations());
  }
  return std::max(sum, 0.0);
}

}  // namespace margin
