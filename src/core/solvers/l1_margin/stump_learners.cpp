#include "core/solvers/l1_margin/stump_learners.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "core/base/polled.hpp"

namespace margin {

namespace {
constexpr std::uint32_t last_of_group = 0x80000000u;  // the next entry of the column has a larger value
constexpr std::uint32_t row_bits = 0x7fffffffu;

double midpoint(double below, double above) {
  const double middle = below + 0.5 * (above - below);
  return middle < above && std::isfinite(middle) ? middle : below;
}
}  // namespace

StumpLearners::StumpLearners(const Dataset& data, const Progress& progress) : data_(data), columns_(data, progress) {
  begin_.push_back(0);
  for (std::int32_t j = 0; j < data.dimensions(); ++j) sort_column(j, progress);
}

void StumpLearners::sort_column(std::int32_t j, const Progress& progress) {
  const Row x = columns_.column(j);
  std::vector<std::pair<double, std::uint32_t>> sorted;
  sorted.reserve(static_cast<std::size_t>(x.count));
  for (std::int32_t k = 0; k < x.count; ++k) {
    const double value = x.value(k);
    progress.work(8);
    if (x.indices != nullptr && value == 0) continue;  // joins the zeros that are not stored
    sorted.emplace_back(value, static_cast<std::uint32_t>(x.indices != nullptr ? x.indices[k] : k));
  }
  polled_sort(sorted.begin(), sorted.end(), std::less<>(), progress);
  const bool zeros = static_cast<std::int64_t>(sorted.size()) < data_.rows();
  std::size_t negative = 0;
  while (negative < sorted.size() && sorted[negative].first < 0) ++negative;
  for (std::size_t k = 0; k < sorted.size(); ++k) {
    const bool before_zeros = zeros && k + 1 == negative;
    const bool last = k + 1 < sorted.size() ? sorted[k + 1].first > sorted[k].first || before_zeros : before_zeros;
    entries_.push_back(sorted[k].second | (last ? last_of_group : 0u));
    progress.work(8);
  }
  zeros_at_.push_back(begin_.back() + (zeros ? negative : sorted.size()));
  has_zeros_.push_back(zeros ? 1 : 0);
  begin_.push_back(entries_.size());
}

WeakLearners::Best StumpLearners::best(const Eigen::VectorXd& v, const Progress& progress) {
  const double total = v.sum();
  Split found;
  double largest = -1;
  for (std::int32_t j = 0; j < data_.dimensions(); ++j) {
    const auto column = static_cast<std::size_t>(j);
    const std::size_t zeros = zeros_at_[column], end = begin_[column + 1];
    double below = 0;  // Σ v of the rows at or below the threshold
    const auto offer = [&](std::size_t after, bool at_zeros) {
      const double edge = total - 2 * below;
      if (std::fabs(edge) <= largest) return;
      largest = std::fabs(edge);
      found = {edge, j, after, at_zeros};
    };
    const auto sweep = [&](std::size_t from, std::size_t to) {
      for (std::size_t k = from; k < to; ++k) {
        below += v(static_cast<Eigen::Index>(entries_[k] & row_bits));
        if ((entries_[k] & last_of_group) != 0) offer(k, false);
      }
    };
    sweep(begin_[column], zeros);
    if (has_zeros_[column] != 0) {
      double stored = below;
      for (std::size_t k = zeros; k < end; ++k) stored += v(static_cast<Eigen::Index>(entries_[k] & row_bits));
      below += total - stored;
      if (end > zeros) offer(zeros, true);
      sweep(zeros, end);
    }
    progress.work(2.0 * static_cast<double>(end - begin_[column]));
  }
  if (found.feature < 0) return {0, 0};  // no column tells two rows apart
  const Stump stump{found.feature, threshold_of(found)};
  std::uint64_t key;
  std::memcpy(&key, &stump.threshold, sizeof key);
  key = key * 0x9e3779b97f4a7c15ULL + static_cast<std::uint64_t>(stump.feature);
  std::vector<std::size_t>& same = known_[key];
  for (const std::size_t s : same)
    if (stumps_[s].feature == stump.feature && stumps_[s].threshold == stump.threshold) return {s, found.edge};
  same.push_back(stumps_.size());
  stumps_.push_back(stump);
  return {stumps_.size() - 1, found.edge};
}

double StumpLearners::value_of(std::int32_t feature, std::size_t entry) const {
  return value_at(data_.row(static_cast<std::int64_t>(entries_[entry] & row_bits)), feature);
}

double StumpLearners::threshold_of(const Split& split) const {
  const auto column = static_cast<std::size_t>(split.feature);
  if (split.at_zeros) return midpoint(0, value_of(split.feature, zeros_at_[column]));
  const double below = value_of(split.feature, split.after);
  const bool zeros_follow = has_zeros_[column] != 0 && split.after + 1 == zeros_at_[column];
  return midpoint(below, zeros_follow ? 0 : value_of(split.feature, split.after + 1));
}

void StumpLearners::values(std::size_t learner, Eigen::VectorXd& out) const {
  const Stump stump = stumps_[learner];
  const Row x = columns_.column(stump.feature);
  if (x.indices == nullptr) {
    for (std::int32_t i = 0; i < x.count; ++i) out(i) = stump(x.value(i));
    return;
  }
  out.setConstant(stump(0));
  for (std::int32_t k = 0; k < x.count; ++k) out(x.indices[k]) = stump(x.value(k));
}

double StumpLearners::bytes(const Dataset& data) {
  const double cells = static_cast<double>(data.rows()) * data.dimensions();
  return Columns::bytes(data) + 4 * cells * std::min(1.0, 4 * data.density()) + 24.0 * data.dimensions() +
         16.0 * static_cast<double>(data.rows());
}

}  // namespace margin
