#include "core/certificate/certain_predictions.hpp"

#include <algorithm>
#include <cmath>

#include "core/math/norm.hpp"
#include "core/math/rounding.hpp"

namespace margin {

CertainPredictions::CertainPredictions(const Objective& objective, const double* weights, const double* intercept,
                                       std::vector<double> reach)
    : objective_(objective), weights_(weights), intercept_(intercept), reach_(std::move(reach)) {
  const auto d = static_cast<std::size_t>(objective.dimensions);
  for (std::size_t o = 0; o < reach_.size(); ++o)
    largest_ = std::max(largest_, lp_norm(weights + o * d, objective.dimensions, 2));
  scores_.resize(reach_.size());
}

CertainPredictions::CertainPredictions(const Objective& objective, const double* weights, const double* intercept,
                                       double distance)
    // Two outputs that are off by r and s with r² + s² ≤ distance² are off by r + s ≤ √2·distance together.
    : CertainPredictions(objective, weights, intercept,
                         std::vector<double>(static_cast<std::size_t>(objective.outputs()),
                                             objective.outputs() == 1 ? distance : 0.7071067811865476 * distance)) {}

void CertainPredictions::widen(std::int32_t dimensions, const double* weights) {
  objective_.dimensions = dimensions;
  weights_ = weights;
}

bool CertainPredictions::operator()(const Row& x) {
  const double norm = margin::norm(x);
  const double length = std::hypot(norm, objective_.constant_feature()) * (1 + epsilon * (x.count + 8.0));
  std::size_t best = 0;
  double top = 0;
  for (std::size_t o = 0; o < scores_.size(); ++o) {
    const double b = intercept_ != nullptr ? intercept_[o] : 0.0;
    scores_[o] = dot(x, weights_ + o * static_cast<std::size_t>(objective_.dimensions)) + b;
    top = std::max(top, std::fabs(scores_[o]));
    if (scores_[o] > scores_[best]) best = o;
  }
  const double rounding = epsilon * ((x.count + 4.0) * (norm * largest_) + 2 * top) + (x.count + 4.0) * tiny;
  if (scores_.size() == 1) return std::fabs(scores_[0]) > length * reach_[0] + rounding;
  bool certain = true;
  for (std::size_t o = 0; o < scores_.size(); ++o)
    if (o != best) certain &= scores_[best] - scores_[o] > length * (reach_[best] + reach_[o]) + 2 * rounding;
  return certain;
}

double distance_bound(double gap, double lambda, double l1_ratio) {
  if (!(l1_ratio < 1)) return infinity;
  return std::sqrt(gap / lambda * 2 / (1 - l1_ratio) + (gap > 0 ? 2 * tiny / (1 - l1_ratio) : 0.0)) * (1 + 8 * epsilon);
}

}  // namespace margin
