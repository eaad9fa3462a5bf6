// The order in which an epoch of coordinate ascent visits the rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/progress.hpp"
#include "core/base/random.hpp"
#include "core/data/dataset.hpp"
#include "core/options/options.hpp"

namespace margin {

/// Throws Error: an order that coordinate ascent on a soft margin does not have.
inline void require_sdca_order(const Options& options, std::string_view solver) {
  if (options.order == Order::proportional)
    throw Error(ErrorKind::unsupported, "solver \"" + std::string(solver) + "\" has no order \"proportional\"",
                "Its orders: permutation, random, cyclic.");
}

/// Rows in the order of a file in stretches of about a megabyte: what is read at once when one of its rows is. None for
/// rows in memory.
class Stretches {
 public:
  static constexpr std::size_t bytes = std::size_t{1} << 20;

  Stretches() = default;
  Stretches(const Dataset& data, const Progress& progress);

  bool none() const { return first_.empty(); }
  std::size_t count() const { return first_.size(); }
  std::size_t of(std::int32_t row) const {
    std::size_t s = guess_[static_cast<std::size_t>(row) / rows_per_guess];
    while (s + 1 < first_.size() && first_[s + 1] <= row) ++s;
    return s;
  }

 private:
  static constexpr std::size_t rows_per_guess = 256;
  std::vector<std::int32_t> first_;   // row of each stretch
  std::vector<std::uint32_t> guess_;  // stretch of every 256th row
};

/// A permutation of `order`, drawn by swaps as an epoch goes along. The places to swap with are random: they are drawn,
/// and fetched, some steps ahead, or every visit would wait for one. Rows in a file: the stretches in random order, and
/// among the rows of `together` of them at a time any order is as likely as any other.
class Shuffle {
 public:
  static constexpr std::size_t together = 4;

  Shuffle(std::vector<std::int32_t>& order, Random& random, const Stretches& stretches, const Progress& progress);
  /// Element k; for k = 0, 1, ... in turn.
  std::int32_t settle(std::size_t k) {
    if (k == turn_) take_turn();
    std::swap(order_[k], order_[place_[k % ahead]]);
    if (k + ahead < n_) draw(k + ahead);
    return order_[k];
  }

 private:
  static constexpr std::size_t ahead = 16;
  void draw(std::size_t k) {
    while (k >= end_) end_ = ends_[++window_];
    place_[k % ahead] = k + random_.below(end_ - k);
    __builtin_prefetch(&order_[place_[k % ahead]], 1);
  }
  void gather(const Stretches& stretches);
  void take_turn();

  std::vector<std::int32_t>& order_;
  Random& random_;
  const Progress& progress_;
  const std::size_t n_;
  std::vector<std::size_t> ends_;  // of the windows in which rows trade places; none: all rows are one
  std::size_t end_, window_ = 0;   // of what is drawn
  std::size_t turn_, turns_ = 0;   // of what is settled
  std::size_t place_[ahead];
};

}  // namespace margin
