// Ranks of any number of values in bounded memory, with a bound of what they are off by that is proven and not only
// probable: levels of values, each counted twice as often as one of the level below; a full level is thinned to every
// other value, which moves up (Manku, Rajagopalan and Lindsay 1998; Karnin, Lang and Liberty 2016 without the coin).
//
// Thinning a level of weight w changes the rank of a number by at most w: by 0 or +w where the first of each pair stays,
// by 0 or −w where the second does. The sketch adds up both and keeps them balanced. A value passes a level once,
// whatever was merged with what, so n values thin a level of weight w and room k at most n/(k w) times, and ranks are off
// by at most n/(2k) for each of log2(n/k) levels: with 1024 values in each of up to 16 levels, and 2048 from then on,
// below 1 % of up to 2^50 values.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace margin {

class RankSketch {
 public:
  using Item = std::pair<double, std::int64_t>;  ///< a value and how often it counts
  static constexpr std::size_t most_levels = 54;
  static constexpr std::size_t most_of_a_level = 2048;  ///< fewer than these

  /// Values, ascending, no two equal, with their counts ≥ 1.
  void add(const std::vector<Item>& values);
  void merge(const RankSketch& other);

  std::int64_t count() const;
  /// Values with their counts, ascending.
  std::vector<Item> items() const;
  /// Proven: how many more values there may be at or below a number than items() say, and how many fewer.
  std::int64_t below() const { return under_; }
  std::int64_t above() const { return over_; }

  /// The values that count 2^h each, ascending.
  const std::vector<std::vector<double>>& levels() const { return levels_; }
  /// Of what the getters say. Nothing is checked.
  static RankSketch of(std::vector<std::vector<double>> levels, std::int64_t below, std::int64_t above);

  double bytes() const;

 private:
  void take(std::size_t level, const std::vector<double>& values);
  void thin();

  std::vector<std::vector<double>> levels_;
  std::int64_t under_ = 0, over_ = 0;
};

/// Of items, ascending: the least value with at least the share q of all counts at or below it, 0 ≤ q ≤ 1.
double quantile(const std::vector<RankSketch::Item>& items, std::int64_t count, double q);

}  // namespace margin
