#include "core/math/quantile_sketch.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace margin {

namespace {
constexpr int dropped_bits = 44;  // of 52: the bucket keeps 8 bits of the mantissa

/// Adjacent equal values become one item.
template <class Item>
std::vector<Item> combined(std::vector<Item> items) {
  std::sort(items.begin(), items.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::size_t kept = 0;
  for (const Item& item : items) {
    if (kept > 0 && items[kept - 1].first == item.first)
      items[kept - 1].second += item.second;
    else
      items[kept++] = item;
  }
  items.resize(kept);
  return items;
}
}  // namespace

// Negation maps bucket k to −1 − k, so that a negated sketch has the same buckets as a sketch of negated numbers.
template <class Count>
std::int32_t CountingSketch<Count>::bucket(double value) {
  std::uint64_t bits;
  const double size = std::fabs(value);
  std::memcpy(&bits, &size, sizeof bits);
  const auto key = static_cast<std::int32_t>(bits >> dropped_bits);
  return value < 0 ? -1 - key : key;
}

template <class Count>
double CountingSketch<Count>::middle(std::int32_t bucket) {
  const auto key = static_cast<std::uint64_t>(bucket < 0 ? -1 - static_cast<std::int64_t>(bucket) : bucket);
  if (key == 0) return 0.0;
  std::uint64_t bits = key << dropped_bits;
  if ((key >> (52 - dropped_bits)) != 0x7FF) bits |= std::uint64_t{1} << (dropped_bits - 1);
  double size;
  std::memcpy(&size, &bits, sizeof size);
  return bucket < 0 ? -size : size;
}

template <class Count>
double CountingSketch<Count>::least_of(std::int32_t bucket) {
  // Of negative numbers the one of the largest size: that before the start of the next bucket.
  const auto key = static_cast<std::uint64_t>(bucket < 0 ? -1 - static_cast<std::int64_t>(bucket) : bucket);
  if ((key >> (52 - dropped_bits)) == 0x7FF) return middle(bucket);  // infinite
  const std::uint64_t bits = bucket < 0 ? ((key + 1) << dropped_bits) - 1 : key << dropped_bits;
  double size;
  std::memcpy(&size, &bits, sizeof size);
  return bucket < 0 ? -size : size;
}

template <class Count>
void CountingSketch<Count>::add(double value, Count count, std::int64_t numbers) {
  if (std::isnan(value)) value = -std::numeric_limits<double>::infinity();
  value += 0.0;  // −0 is 0
  smallest_ = count_ == 0 ? value : std::min(smallest_, value);
  largest_ = count_ == 0 ? value : std::max(largest_, value);
  count_ += count;
  numbers_ += numbers;
  if (exact() && numbers_ <= exact_limit) {
    values_.emplace_back(value, count);
    return;
  }
  if (exact()) coarsen();
  this->count(bucket(value), count);
}

template <class Count>
void CountingSketch<Count>::coarsen() {
  coarse_ = true;
  for (const Item& item : values_) count(bucket(item.first), item.second);
  values_ = {};
}

template <class Count>
void CountingSketch<Count>::count(std::int32_t bucket, Count count) {
  if (2 * (used_ + 1) > buckets_.size()) {
    std::vector<Bucket> old(std::max<std::size_t>(1024, 2 * buckets_.size()));
    old.swap(buckets_);
    used_ = 0;
    for (const Bucket& b : old)
      if (b.count > 0) place(b);
  }
  place({count, bucket});
}

template <class Count>
void CountingSketch<Count>::place(const Bucket& bucket) {
  // The bits of the key that change least are the high ones: multiplied, all of them reach the high half of 64 bits.
  const std::size_t mask = buckets_.size() - 1;
  std::size_t at = (static_cast<std::uint32_t>(bucket.key) * std::uint64_t{0x9e3779b97f4a7c15}) >> 32 & mask;
  while (buckets_[at].count > 0 && buckets_[at].key != bucket.key) at = (at + 1) & mask;
  used_ += buckets_[at].count == 0;
  buckets_[at].key = bucket.key;
  buckets_[at].count += bucket.count;
}

template <class Count>
void CountingSketch<Count>::merge(const CountingSketch& other) {
  if (other.count_ == 0) return;
  const double low = count_ == 0 ? other.smallest_ : std::min(smallest_, other.smallest_);
  const double high = count_ == 0 ? other.largest_ : std::max(largest_, other.largest_);
  const std::int64_t numbers = numbers_ + other.numbers_;
  if (exact() && numbers > exact_limit) coarsen();
  for (const Item& item : other.items()) add(item.first, item.second, 0);
  numbers_ = numbers;
  smallest_ = low;
  largest_ = high;
}

template <class Count>
auto CountingSketch<Count>::items() const -> std::vector<Item> {
  if (exact()) return combined(values_);
  std::vector<Item> out;
  out.reserve(used_);
  for (const Bucket& b : buckets_)
    if (b.count > 0) out.emplace_back(middle(b.key), b.count);
  return combined(std::move(out));
}

template <class Count>
auto CountingSketch<Count>::coarse_items() const -> std::vector<Item> {
  std::vector<Item> out = items();
  for (Item& item : out) item.first = middle(bucket(item.first));
  return combined(std::move(out));
}

template <class Count>
auto CountingSketch<Count>::negated() const -> CountingSketch {
  CountingSketch out;
  if (!exact()) out.coarsen();
  for (const Item& item : items()) out.add(-item.first, item.second, 0);
  out.numbers_ = numbers_;
  if (count_ > 0) {
    out.smallest_ = -largest_;
    out.largest_ = -smallest_;
  }
  return out;
}

template <class Count>
std::vector<double> CountingSketch<Count>::quantiles(const std::vector<double>& q) const {
  const std::vector<Item> content = items();
  std::vector<double> out;
  for (const double share : q) {
    const double part = share * static_cast<double>(count_), rank = weighted ? part : std::ceil(part);
    double value = largest_;
    if (share <= 0) {
      value = smallest_;
    } else if (share < 1) {
      Count below = 0;
      for (const Item& item : content) {
        below += item.second;
        if (static_cast<double>(below) >= rank) {
          value = std::clamp(item.first, smallest_, largest_);
          break;
        }
      }
    }
    out.push_back(value);
  }
  return out;
}

template <class Count>
double area_under_curve(const CountingSketch<Count>& lower, const CountingSketch<Count>& higher) {
  // Exact numbers against the middles of buckets would decide ties at random.
  const bool coarse = !lower.exact() || !higher.exact();
  const auto low = coarse ? lower.coarse_items() : lower.items(),
             high = coarse ? higher.coarse_items() : higher.items();
  double wins = 0, below = 0;
  std::size_t at = 0;
  for (const auto& [value, count] : high) {
    while (at < low.size() && low[at].first < value) below += static_cast<double>(low[at++].second);
    const double ties = at < low.size() && low[at].first == value ? static_cast<double>(low[at].second) : 0.0;
    wins += static_cast<double>(count) * (below + 0.5 * ties);
  }
  return wins / (static_cast<double>(lower.count()) * static_cast<double>(higher.count()));
}

template class CountingSketch<std::int64_t>;
template class CountingSketch<double>;
template double area_under_curve(const Sketch& lower, const Sketch& higher);
template double area_under_curve(const WeightedSketch& lower, const WeightedSketch& higher);

}  // namespace margin
