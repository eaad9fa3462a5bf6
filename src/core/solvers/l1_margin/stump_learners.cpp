#include "core/solvers/l1_margin/stump_learners.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "core/base/polled.hpp"
#include "core/base/threads.hpp"

namespace margin {

namespace {
constexpr std::uint32_t last_of_group = 0x80000000u;  // the next entry of the column has a larger value
constexpr std::uint32_t row_bits = 0x7fffffffu;
constexpr std::int32_t at_once = 32;  // columns that are sorted before they are laid down
}  // namespace

/// Several columns at once are sorted on threads, and then laid one after another.
StumpLearners::StumpLearners(const Dataset& data, const Progress& progress) : data_(data), columns_(data, progress) {
  begin_.push_back(0);
  std::size_t stored = 0;
  for (std::int32_t j = 0; j < data.dimensions(); ++j) stored += static_cast<std::size_t>(columns_.column(j).count);
  entries_.reserve(stored);
  for (std::int32_t first = 0; first < data.dimensions(); first += at_once) {
    const std::int32_t count = std::min(at_once, data.dimensions() - first);
    std::vector<SortedColumn> sorted(static_cast<std::size_t>(count));
    double values = 0;
    for (std::int32_t j = first; j < first + count; ++j) values += columns_.column(j).count;
    const Chunks chunks(count, 64 * values / count);
    progress.threads().run(chunks.count(), progress, [&](std::size_t k, const Progress& own) {
      for (std::int64_t c = chunks.begin(k); c < chunks.end(k); ++c)
        sorted[static_cast<std::size_t>(c)] = sorted_column(first + static_cast<std::int32_t>(c), own);
    });
    for (const SortedColumn& column : sorted) {
      zeros_at_.push_back(begin_.back() + column.zeros_at);
      has_zeros_.push_back(column.has_zeros ? 1 : 0);
      entries_.insert(entries_.end(), column.entries.begin(), column.entries.end());
      begin_.push_back(entries_.size());
      progress.work(static_cast<double>(column.entries.size()));
    }
  }
}

StumpLearners::SortedColumn StumpLearners::sorted_column(std::int32_t j, const Progress& progress) const {
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
  SortedColumn out;
  out.has_zeros = static_cast<std::int64_t>(sorted.size()) < data_.rows();
  std::size_t negative = 0;
  while (negative < sorted.size() && sorted[negative].first < 0) ++negative;
  out.zeros_at = out.has_zeros ? negative : sorted.size();
  out.entries.reserve(sorted.size());
  for (std::size_t k = 0; k < sorted.size(); ++k) {
    const bool before_zeros = out.has_zeros && k + 1 == negative;
    const bool last = k + 1 < sorted.size() ? sorted[k + 1].first > sorted[k].first || before_zeros : before_zeros;
    out.entries.push_back(sorted[k].second | (last ? last_of_group : 0u));
    progress.work(8);
  }
  return out;
}

/// The best split of some features: of equals the first.
StumpLearners::Split StumpLearners::best_split(std::int32_t first, std::int32_t end_feature, const Eigen::VectorXd& v,
                                               double total, const Progress& progress) const {
  // What is found is not to be mistaken for something that the loop reads.
  const std::uint32_t* const entries = entries_.data();
  const double* const weights = v.data();
  double largest = -1, edge_found = 0;
  std::int32_t feature = -1;
  std::size_t after_found = 0;
  bool zeros_found = false;
  for (std::int32_t j = first; j < end_feature; ++j) {
    const auto column = static_cast<std::size_t>(j);
    const std::size_t zeros = zeros_at_[column], end = begin_[column + 1];
    double below = 0;  // Σ v of the rows at or below the threshold
    const auto offer = [&](std::size_t after, bool at_zeros) {
      const double edge = total - 2 * below;
      if (std::fabs(edge) <= largest) return;
      largest = std::fabs(edge);
      edge_found = edge;
      feature = j;
      after_found = after;
      zeros_found = at_zeros;
    };
    const auto sweep = [&](std::size_t from, std::size_t to) {
      for (std::size_t k = from; k < to; ++k) {
        below += weights[entries[k] & row_bits];
        if ((entries[k] & last_of_group) != 0) offer(k, false);
      }
    };
    sweep(begin_[column], zeros);
    if (has_zeros_[column] != 0) {
      double stored = below;
      for (std::size_t k = zeros; k < end; ++k) stored += weights[entries[k] & row_bits];
      below += total - stored;
      if (end > zeros) offer(zeros, true);
      sweep(zeros, end);
    }
    progress.work(2.0 * static_cast<double>(end - begin_[column]));
  }
  return {edge_found, feature, after_found, zeros_found};
}

WeakLearners::Best StumpLearners::best(const Eigen::VectorXd& v, const Progress& progress) {
  const double total = v.sum();
  // What is added lies all over the rows: as much time as eight multiply-adds.
  const Chunks features(data_.dimensions(),
                        8.0 * static_cast<double>(entries_.size()) / std::max(1, data_.dimensions()));
  std::vector<Split> splits(features.count());
  progress.threads().run(features.count(), progress, [&](std::size_t k, const Progress& own) {
    splits[k] = best_split(static_cast<std::int32_t>(features.begin(k)), static_cast<std::int32_t>(features.end(k)), v,
                           total, own);
  });
  Split found;
  for (const Split& split : splits)
    if (split.feature >= 0 && (found.feature < 0 || std::fabs(split.edge) > std::fabs(found.edge))) found = split;
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
  if (split.at_zeros) return threshold_between(0, value_of(split.feature, zeros_at_[column]));
  const double below = value_of(split.feature, split.after);
  const bool zeros_follow = has_zeros_[column] != 0 && split.after + 1 == zeros_at_[column];
  return threshold_between(below, zeros_follow ? 0 : value_of(split.feature, split.after + 1));
}

void StumpLearners::values(std::size_t learner, std::int64_t begin, std::int64_t end, double* out) const {
  const Stump stump = stumps_[learner];
  const Row x = columns_.column(stump.feature);
  if (x.indices == nullptr) {
    for (std::int64_t i = begin; i < end; ++i) out[i] = stump(x.value(static_cast<std::int32_t>(i)));
    return;
  }
  std::fill(out + begin, out + end, stump(0));
  const std::int32_t* const last = x.indices + x.count;
  for (const std::int32_t* at = std::lower_bound(x.indices, last, begin); at != last && *at < end; ++at)
    out[*at] = stump(x.value(static_cast<std::int32_t>(at - x.indices)));
}

std::shared_ptr<const Basis> StumpLearners::basis(const std::vector<std::size_t>& used, std::int32_t dimensions) const {
  std::vector<Stump> stumps;
  for (const std::size_t s : used) stumps.push_back(stumps_[s]);
  if (stumps.empty()) stumps.push_back({0, 0.0});
  return std::make_shared<StumpBasis>(stumps, dimensions);
}

double StumpLearners::bytes(const Dataset& data) {
  const double cells = static_cast<double>(data.rows()) * data.dimensions();
  const double sorted = std::min(data.dimensions(), at_once) * 4.0 + 16.0;  // columns in the making
  return Columns::bytes(data) + 4 * cells * std::min(1.0, 4 * data.density()) + 24.0 * data.dimensions() +
         sorted * static_cast<double>(data.rows());
}

}  // namespace margin
