#include "core/encoder/collinear.hpp"

#include <algorithm>

#include "core/math/normal_equations.hpp"

namespace margin {

namespace {

std::size_t reserved(std::int32_t features, MemoryBudget& memory) {
  const auto size = static_cast<std::size_t>(features) + 1;
  memory.require(2 * SymmetricMatrix::bytes(size), "the search for collinear features");
  return size;
}

}  // namespace

CollinearFeatures::CollinearFeatures(std::int32_t features, bool constant, std::int32_t held, MemoryBudget& memory)
    : features_(features), constant_(constant), held_(held), gram_(reserved(features, memory)) {}

void CollinearFeatures::add(const FeatureRow& x, double weight) {
  if (!(weight > 0)) return;
  at_.clear();
  value_.clear();
  for (std::int32_t k = 0; k < x.count; ++k) {
    const std::int32_t feature = x.indices != nullptr ? x.indices[k] : k;
    if (x.value(k) == 0 || feature == held_) continue;
    at_.push_back(feature);
    value_.push_back(x.value(k));
  }
  at_.push_back(features_);
  value_.push_back(1);
  for (std::size_t j = 0; j < at_.size(); ++j) {
    double* row = gram_.row(static_cast<std::size_t>(at_[j]));
    for (std::size_t k = j; k < at_.size(); ++k) row[at_[k]] += weight * value_[j] * value_[k];
  }
}

std::vector<std::int32_t> CollinearFeatures::find(const Progress& progress) const {
  std::vector<std::int32_t> kept, dropped;
  for (std::int32_t j = 0; j < features_; ++j)
    if (j != held_) kept.push_back(j);
  while (!kept.empty()) {
    const std::size_t size = kept.size() + (constant_ ? 1 : 0);
    SymmetricMatrix part(size);
    const auto at = [&](std::size_t j) { return static_cast<std::size_t>(j < kept.size() ? kept[j] : features_); };
    for (std::size_t j = 0; j < size; ++j)
      for (std::size_t k = j; k < size; ++k) part.row(j)[k] = gram_.row(at(j))[at(k)];
    progress.work(static_cast<double>(size) * static_cast<double>(size));
    const NormalEquations equations(part, constant_, progress);
    std::size_t last = size;
    for (const std::size_t j : equations.dependent())
      if (j < kept.size()) last = j;
    if (last == size) break;
    dropped.push_back(kept[last]);
    kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(last));
  }
  std::sort(dropped.begin(), dropped.end());
  return dropped;
}

}  // namespace margin
