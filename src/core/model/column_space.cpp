#include "core/model/column_space.hpp"

#include <algorithm>

namespace margin {

ColumnSpace::ColumnSpace(const Scorer& model)
    : model_(model),
      width_(model.column_count),
      size_(model.column_count),
      weights_(model.weights, model.weights + static_cast<std::ptrdiff_t>(model.outputs) * model.column_count) {}

Row ColumnSpace::place(const Row& x) {
  indices_.clear();
  values_.clear();
  const std::int32_t *at = model_.columns, *const end = model_.columns + model_.column_count;
  for (std::int32_t k = 0; k < x.count; ++k) {
    if (x.indices == nullptr && x.value(k) == 0) continue;
    const std::int32_t column = x.indices != nullptr ? x.indices[k] : k;
    at = std::lower_bound(at, end, column);
    std::int32_t number = static_cast<std::int32_t>(at - model_.columns);
    if (at == end || *at != column) {
      const auto found = others_.try_emplace(column, size_);
      if (found.second) ++size_;
      number = found.first->second;
    }
    indices_.push_back(number);
    if (x.indices == nullptr) values_.push_back(x.value(k));
  }
  if (size_ > width_) {
    const auto old = static_cast<std::size_t>(width_);
    width_ = static_cast<std::int32_t>(
        std::min<std::int64_t>(model_.dimensions, std::max<std::int64_t>(size_, width_ + std::int64_t{width_} / 2)));
    const auto outputs = static_cast<std::size_t>(model_.outputs), wide = static_cast<std::size_t>(width_);
    std::vector<double> weights(outputs * wide, 0.0);
    for (std::size_t o = 0; o < outputs; ++o)
      std::copy_n(weights_.begin() + static_cast<std::ptrdiff_t>(o * old), old,
                  weights.begin() + static_cast<std::ptrdiff_t>(o * wide));
    weights_ = std::move(weights);
  }
  const auto count = static_cast<std::int32_t>(indices_.size());
  if (x.indices == nullptr) return sparse_row(indices_.data(), values_.data(), count, 0);
  return x.wide ? sparse_row(indices_.data(), x.doubles(), count, 0)
                : sparse_row(indices_.data(), x.floats(), count, 0);
}

std::vector<std::int32_t> ColumnSpace::features() const {
  std::vector<std::int32_t> all(static_cast<std::size_t>(width_), -1);
  std::copy_n(model_.columns, model_.column_count, all.begin());
  for (const auto& [feature, number] : others_) all[static_cast<std::size_t>(number)] = feature;
  return all;
}

double ColumnSpace::growth(std::int32_t more) const {
  const double needed = static_cast<double>(size_) + more;
  return needed <= width_ ? 0.0
                          : 8.0 * model_.outputs * std::min<double>(model_.dimensions, std::max(needed, 1.5 * width_));
}

}  // namespace margin
