#include "core/kernel/support_vectors.hpp"

#include <algorithm>

#include "core/base/progress.hpp"

namespace margin {

void KernelBasis::evaluate(const Row& x, double* values) const {
  KernelPoint point;
  set(point, x);
  evaluate(point, values, nullptr);
}

void KernelBasis::set(KernelPoint& point, const Row& x) const {
  if (progress_ != nullptr)
    rows_.set(point, x, *progress_);
  else
    rows_.set(point, x);
}

void KernelBasis::evaluate(const KernelPoint& point, double* values, double* errors) const {
  // As many rows at once as two polls may lie apart.
  constexpr double most_operations = 1048576;
  const double at_once =
      std::max(1.0, std::min(most_operations / rows_.operations(), static_cast<double>(rows_.size())));
  const std::size_t step = (static_cast<std::size_t>(at_once) + tile_rows - 1) / tile_rows * tile_rows;
  for (std::size_t from = 0; from < rows_.size(); from += step) {
    const std::size_t to = std::min(rows_.size(), from + step);
    double *const value_at = values + from, *const error_at = errors + (errors == nullptr ? 0 : from);
    rows_.evaluate({&point}, from, to, &value_at, errors == nullptr ? nullptr : &error_at);
    if (progress_ != nullptr) progress_->work(static_cast<double>(to - from) * rows_.operations());
  }
}

SupportVectors support_vectors(const Dataset& data, const KernelRows& rows, const Weights& coefficients,
                               const Progress& progress) {
  std::vector<std::int64_t> origin;
  for (Eigen::Index i = 0; i < coefficients.rows(); ++i)
    if (coefficients.row(i).cwiseAbs().maxCoeff() > 0) origin.push_back(i);
  if (origin.empty()) origin.push_back(0);
  double values = 0;
  for (const std::int64_t i : origin) values += data.row(i).count;
  KernelRows kept(rows.shared_kernel(), rows.dimensions(), rows.layout());
  kept.reserve(origin.size(), values);
  Weights weights(coefficients.cols(), static_cast<Eigen::Index>(origin.size()));
  for (std::size_t s = 0; s < origin.size(); ++s) {
    kept.append(data.row(origin[s]), progress);
    weights.col(static_cast<Eigen::Index>(s)) = coefficients.row(origin[s]).transpose();
  }
  const bool sparse = data.sparse_input() || rows.layout() == Layout::sparse || rows.layout() == Layout::compact;
  return {std::make_shared<KernelBasis>(std::move(kept), sparse, std::move(origin)), std::move(weights)};
}

double squared_norm(const KernelBasis& basis, const double* weights, const Progress& progress) {
  const KernelRows& rows = basis.rows();
  std::vector<double> values(rows.size());
  double* const at = values.data();
  KernelPoint point;
  double sum = 0;
  for (std::size_t s = 0; s < rows.size(); ++s) {
    rows.set(point, s);
    rows.evaluate({&point}, 0, rows.size(), &at);
    values[s] = rows.diagonal(s);
    sum += weights[s] * simd().dot_dd(values.data(), weights, values.size());
    progress.work(static_cast<double>(rows.size()) * rows.operations());
  }
  return std::max(sum, 0.0);
}

}  // namespace margin
