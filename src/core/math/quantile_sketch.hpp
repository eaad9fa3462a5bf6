// A multiset of numbers in bounded memory: exact while small, then counted in buckets of a fixed relative width. The
// content depends only on the numbers, never on their order or on how parts were merged.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace margin {

/// Up to 4096 numbers are kept as they are. Beyond that a number is replaced by the middle of its bucket: sign,
/// exponent and the first 8 bits of the mantissa, a relative error of at most 2^−9 (0.2 %). Two numbers further
/// apart than that keep their order. At most 2^20 buckets exist; data within 40 powers of two fill about 10,000.
class Sketch {
 public:
  static constexpr std::int64_t exact_limit = 4096;
  static constexpr double relative_accuracy = 1.0 / 512;

  using Item = std::pair<double, std::int64_t>;  ///< a value and how often it occurs

  /// NaN counts as −infinity. `count` ≥ 1.
  void add(double value, std::int64_t count = 1);
  void merge(const Sketch& other);

  std::int64_t count() const { return count_; }
  bool exact() const { return count_ <= exact_limit; }
  double smallest() const { return smallest_; }
  double largest() const { return largest_; }
  /// The content, ascending; values are within the relative accuracy.
  std::vector<Item> items() const;
  /// The content as it would be beyond the exact limit.
  std::vector<Item> coarse_items() const;
  /// The sketch of the negated numbers.
  Sketch negated() const;
  /// The least number with a share of at least q of all numbers at or below it, 0 ≤ q ≤ 1; 0 and 1 give the exact
  /// ends. The sketch must not be empty.
  std::vector<double> quantiles(const std::vector<double>& q) const;

  /// Exchange the state with an archive: archive(int64&), archive(double&), archive(std::vector<Item>&). The same
  /// function writes and reads; false when what was read contradicts itself.
  template <class Archive>
  bool exchange(Archive& archive) {
    std::vector<Item> content = items();
    double low = smallest_, high = largest_;
    archive(content);
    archive(low);
    archive(high);
    Sketch fresh;
    for (const Item& item : content) {
      if (item.second < 1 || item.second > (std::int64_t{1} << 53) - fresh.count_) return false;
      fresh.add(item.first, item.second);
    }
    if (!(low <= high)) return false;
    *this = std::move(fresh);
    smallest_ = low;
    largest_ = high;
    return true;
  }

 private:
  struct Bucket {
    std::int64_t count = 0;
    std::int32_t key = 0;
  };

  static std::int32_t bucket(double value);
  static double middle(std::int32_t bucket);
  void coarsen();
  void count(std::int32_t bucket, std::int64_t count);
  void place(const Bucket& bucket);

  std::int64_t count_ = 0;
  double smallest_ = 0, largest_ = 0;
  std::vector<Item> values_;  // while exact; unsorted
  // Afterwards: a hash table with open addressing, a power of two of slots, at least half of them empty (count 0).
  std::vector<Bucket> buckets_;
  std::size_t used_ = 0;
};

/// Probability that a number of `higher` exceeds one of `lower`, ties counting one half: the area under the ROC
/// curve when they are the scores of the positive and the negative rows. Neither may be empty.
double area_under_curve(const Sketch& lower, const Sketch& higher);

}  // namespace margin
