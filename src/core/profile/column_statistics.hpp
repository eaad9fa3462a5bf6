// What is known of the values of one column, in memory that does not grow with their number; statistics of parts merge.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/math/exact_total.hpp"
#include "core/math/rank_sketch.hpp"
#include "core/profile/frequent.hpp"

namespace margin {

/// Counts, ends and sums of numbers: the same bits in whatever order and parts they come.
struct Sums {
  std::int64_t count = 0;  ///< of all, those that are not finite among them
  std::int64_t nan = 0, infinite = 0;
  double least = std::numeric_limits<double>::infinity(), largest = -least;  ///< of the finite ones
  ExactTotal sum, squares;                                                   ///< of them

  void add(double v) {
    if (!count_infinite(v)) add_finite(v + 0.0);  // −0 is 0
  }
  /// Counts v where it is no finite number, and says whether that is so.
  bool count_infinite(double v) {
    if (std::isfinite(v)) return false;
    ++count;
    ++(std::isnan(v) ? nan : infinite);
    return true;
  }
  /// Finite numbers, ascending.
  void add_sorted(const std::vector<double>& values);
  void merge(const Sums& other);
  std::int64_t finite() const { return count - nan - infinite; }
  double mean() const { return sum.mean(finite()); }
  /// Of a sample, as SQL's stddev: divided by finite() − 1.
  double stddev() const { return ExactTotal::deviation(sum, squares, finite(), finite() - 1); }
  /// Whether numbers can have these.
  bool sound() const;
  double bytes() const { return sizeof(Sums) + sum.bytes() + squares.bytes(); }

 private:
  void add_finite(double v);
};

/// The same with the ranks of values, and the frequent ones.
class NumberStatistics {
 public:
  using Item = RankSketch::Item;

  void add(double v) {
    if (sums_.count_infinite(v)) return;
    recent_.push_back(v + 0.0);  // −0 is 0
    if (recent_.size() >= most_recent) flush();
  }
  void merge(const NumberStatistics& other);

  std::int64_t count() const { return sums_.count + static_cast<std::int64_t>(recent_.size()); }
  const Sums& sums();
  const FrequentNumbers& frequent();
  const RankSketch& ranks();  ///< empty as long as the frequent ones are all
  /// Values with counts, ascending: exact, or as the sketch has them.
  std::vector<Item> items();
  /// Proven: the ranks of items() are off by this much at most.
  std::int64_t rank_error();
  /// Nothing is checked.
  void set(Sums sums, FrequentNumbers frequent, RankSketch ranks);

  double bytes() const;

 private:
  static constexpr std::size_t most_recent = 2048;
  void flush();
  void take(const std::vector<Item>& items, std::int64_t missed);

  Sums sums_;
  std::vector<double> recent_;
  FrequentNumbers frequent_;
  RankSketch ranks_;
};

}  // namespace margin
