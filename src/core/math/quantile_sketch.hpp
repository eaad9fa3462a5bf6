// A multiset of numbers in bounded memory: exact while small, then counted in buckets of a fixed relative width. The
// content depends only on the numbers, never on their order or on how parts were merged. Counts are whole numbers, or
// weights, whose sums then depend on the order in their last digits.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace margin {

/// Up to 4096 numbers are kept as they are. Beyond that a number is replaced by the middle of its bucket: sign,
/// exponent and the first 8 bits of the mantissa, a relative error of at most 2^−9 (0.2 %). Two numbers further
/// apart than that keep their order. At most 2^20 buckets exist; data within 40 powers of two fill about 10,000.
/// Count: std::int64_t or double.
template <class Count>
class CountingSketch {
 public:
  static constexpr std::int64_t exact_limit = 4096;
  static constexpr double relative_accuracy = 1.0 / 512;

  using Item = std::pair<double, Count>;  ///< a value and how often it occurs, or its weight

  /// NaN counts as −infinity. `count` ≥ 1, a weight > 0.
  void add(double value, Count count = 1) { add(value, count, numbers_of(count)); }
  void merge(const CountingSketch& other);

  Count count() const { return count_; }
  std::int64_t numbers() const { return numbers_; }  ///< how many were added
  bool exact() const { return !coarse_; }
  double smallest() const { return smallest_; }
  double largest() const { return largest_; }
  /// The content, ascending; values are within the relative accuracy.
  std::vector<Item> items() const;
  /// The content as it would be beyond the exact limit.
  std::vector<Item> coarse_items() const;
  /// The least number that is counted like this item of a sketch: itself, or the end of its bucket.
  double least(const Item& item) const { return exact() ? item.first : least_of(bucket(item.first)); }
  static double least_coarse(const Item& item) { return least_of(bucket(item.first)); }
  /// The sketch of the negated numbers.
  CountingSketch negated() const;
  /// The least number with a share of at least q of all numbers at or below it, 0 ≤ q ≤ 1; 0 and 1 give the exact
  /// ends. The sketch must not be empty.
  std::vector<double> quantiles(const std::vector<double>& q) const;

  /// Exchange the state with an archive: archive(int64&), archive(double&), archive(std::vector<Item>&). The same
  /// function writes and reads; false when what was read contradicts itself.
  template <class Archive>
  bool exchange(Archive& archive) {
    std::vector<Item> content = items();
    double low = smallest_, high = largest_;
    std::int64_t numbers = numbers_;
    archive(content);
    archive(low);
    archive(high);
    CountingSketch fresh;
    if constexpr (weighted) {
      archive(numbers);
      if (numbers < static_cast<std::int64_t>(content.size()) || numbers > std::int64_t{1} << 53) return false;
      if (numbers > exact_limit) fresh.coarsen();
    }
    for (const Item& item : content) {
      if constexpr (weighted) {
        if (!(item.second > 0 && std::isfinite(fresh.count_ + item.second))) return false;
        fresh.add(item.first, item.second, 0);
      } else {
        const Count count = item.second;
        if (count < 1 || count > (std::int64_t{1} << 53) - fresh.count_) return false;
        fresh.add(item.first, item.second);
      }
    }
    if constexpr (weighted) fresh.numbers_ = numbers;
    if (!(low <= high)) return false;
    *this = std::move(fresh);
    smallest_ = low;
    largest_ = high;
    return true;
  }

 private:
  static constexpr bool weighted = std::is_floating_point_v<Count>;
  struct Bucket {
    Count count = 0;
    std::int32_t key = 0;
  };

  static std::int64_t numbers_of(Count count) {
    if constexpr (weighted) return 1;
    return static_cast<std::int64_t>(count);
  }
  static std::int32_t bucket(double value);
  static double middle(std::int32_t bucket);
  static double least_of(std::int32_t bucket);
  void add(double value, Count count, std::int64_t numbers);
  void coarsen();
  void count(std::int32_t bucket, Count count);
  void place(const Bucket& bucket);

  Count count_ = 0;
  std::int64_t numbers_ = 0;  // how many were added: their counts, or one for each weight
  bool coarse_ = false;
  double smallest_ = 0, largest_ = 0;
  std::vector<Item> values_;  // while exact; unsorted
  // Afterwards: a hash table with open addressing, a power of two of slots, at least half of them empty (count 0).
  std::vector<Bucket> buckets_;
  std::size_t used_ = 0;
};

using Sketch = CountingSketch<std::int64_t>;
using WeightedSketch = CountingSketch<double>;

/// Probability that a number of `higher` exceeds one of `lower`, ties counting one half: the area under the ROC
/// curve when they are the scores of the positive and the negative rows. Neither may be empty.
template <class Count>
double area_under_curve(const CountingSketch<Count>& lower, const CountingSketch<Count>& higher);

}  // namespace margin
