#include "core/encoder/collinear.hpp"

#include <algorithm>
#include <cmath>

#include "core/simd/loops.hpp"

namespace margin {

namespace {

// As NormalEquations has them, so that what is kept is regular to a training: of a column's spread, what is left of it
// beside the columns before; of its square, its spread, and the rounding of what is left.
constexpr double negligible_rest = 1e-11, negligible_spread = 1e-13, rounding = 1e-14;

std::size_t reserved(std::int32_t features, MemoryBudget& memory) {
  const auto size = static_cast<std::size_t>(features) + 1;
  memory.require(2 * SymmetricMatrix::bytes(size), "the search for collinear features");
  return size;
}

}  // namespace

CollinearFeatures::CollinearFeatures(std::int32_t features, bool constant, std::int32_t held, MemoryBudget& memory)
    : features_(features), constant_(constant), held_(held), gram_(reserved(features, memory)) {}

void CollinearFeatures::add(const FeatureRow& x, double weight, const Progress& progress) {
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
    progress.work(static_cast<double>(at_.size() - j));
    double* row = gram_.row(static_cast<std::size_t>(at_[j]));
    for (std::size_t k = j; k < at_.size(); ++k) row[at_[k]] += weight * value_[j] * value_[k];
  }
}

// Cholesky's factor of the columns that are kept, row by row, the constant first: what is left of a column's square beside
// them is what they do not give.
std::vector<std::int32_t> CollinearFeatures::find(const Progress& progress) const {
  std::vector<std::int32_t> kept, dropped;
  std::vector<std::vector<double>> factor;
  std::vector<double> row;
  const auto moment = [&](std::int32_t j, std::int32_t k) {
    const auto [low, high] = std::minmax(j, k);
    return gram_.row(static_cast<std::size_t>(low))[high];
  };
  const auto try_column = [&](std::int32_t j) {
    row.resize(kept.size() + 1);
    double rest = moment(j, j), spread = rest;
    for (std::size_t k = 0; k < kept.size(); ++k) {
      row[k] = (moment(kept[k], j) - simd().dot_dd(factor[k].data(), row.data(), k)) / factor[k][k];
      rest -= row[k] * row[k];
      if (k == 0 && constant_) spread = rest;
    }
    progress.work(static_cast<double>(kept.size()) * static_cast<double>(kept.size()));
    const double square = moment(j, j);
    if (!(rest > std::max(negligible_rest * spread, rounding * square)) || !(spread > negligible_spread * square))
      return false;
    row[kept.size()] = std::sqrt(rest);
    factor.push_back(row);
    kept.push_back(j);
    return true;
  };
  if (constant_ && !try_column(features_)) return dropped;  // there are no rows
  for (std::int32_t j = 0; j < features_; ++j)
    if (j != held_ && !try_column(j)) dropped.push_back(j);
  return dropped;
}

}  // namespace margin
