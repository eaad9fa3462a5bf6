#include "core/profile/column_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/math/number_sort.hpp"

namespace margin {

void Sums::add_finite(double v) {
  ++count;
  least = std::min(least, v);
  largest = std::max(largest, v);
  sum.add(v);
  squares.add_square(v);
}

void Sums::add_sorted(const std::vector<double>& values) {
  if (values.empty()) return;
  count += static_cast<std::int64_t>(values.size());
  least = std::min(least, values.front());
  largest = std::max(largest, values.back());
  ExactTotal::add_sorted(values, sum, squares);
}

void Sums::merge(const Sums& other) {
  count += other.count;
  nan += other.nan;
  infinite += other.infinite;
  least = std::min(least, other.least);
  largest = std::max(largest, other.largest);
  sum.add(other.sum);
  squares.add(other.squares);
}

bool Sums::sound() const {
  if (nan < 0 || infinite < 0 || nan > count || infinite > count - nan) return false;
  if (finite() == 0)
    return least == std::numeric_limits<double>::infinity() && largest == -least && sum.digits().digits.empty() &&
           squares.digits().digits.empty();
  if (!(std::isfinite(least) && std::isfinite(largest) && least <= largest)) return false;
  const double m = mean();
  return least <= m && m <= largest && ExactTotal::possible(sum, squares, finite());
}

void NumberStatistics::flush() {
  if (recent_.empty()) return;
  NumberSort sort;
  sort(recent_);
  sums_.add_sorted(recent_);
  std::vector<Item> items(recent_.size());
  std::size_t runs = 0;
  Item run = {recent_[0], 0};
  for (const double v : recent_) {
    if (v != run.first) {
      items[runs++] = run;
      run = {v, 0};
    }
    ++run.second;
  }
  items[runs++] = run;
  items.resize(runs);
  recent_.clear();
  take(items, 0);
}

/// `items` are all values that they stand for, or the sketch has them already.
void NumberStatistics::take(const std::vector<Item>& items, std::int64_t missed) {
  const bool was_exact = frequent_.exact();
  FrequentNumbers before;
  if (was_exact) before = frequent_;
  frequent_.merge(items, missed);
  if (frequent_.exact()) return;
  if (was_exact) ranks_.add(before.items());
  if (missed == 0) ranks_.add(items);
}

void NumberStatistics::merge(const NumberStatistics& other) {
  NumberStatistics theirs = other;
  theirs.flush();
  flush();
  sums_.merge(theirs.sums_);
  take(theirs.frequent_.items(), theirs.frequent_.missed());
  ranks_.merge(theirs.ranks_);
}

const Sums& NumberStatistics::sums() {
  flush();
  return sums_;
}

const FrequentNumbers& NumberStatistics::frequent() {
  flush();
  return frequent_;
}

const RankSketch& NumberStatistics::ranks() {
  flush();
  return ranks_;
}

std::vector<NumberStatistics::Item> NumberStatistics::items() {
  flush();
  return frequent_.exact() ? frequent_.items() : ranks_.items();
}

std::int64_t NumberStatistics::rank_error() {
  flush();
  return std::max(ranks_.below(), ranks_.above());
}

void NumberStatistics::set(Sums sums, FrequentNumbers frequent, RankSketch ranks) {
  sums_ = std::move(sums);
  recent_.clear();
  frequent_ = std::move(frequent);
  ranks_ = std::move(ranks);
}

double NumberStatistics::bytes() const {
  return sums_.bytes() + 8.0 * static_cast<double>(recent_.capacity()) +
         16.0 * static_cast<double>(frequent_.items().capacity()) + ranks_.bytes() + sizeof(*this);
}

}  // namespace margin
