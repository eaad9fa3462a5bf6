// The table of sums of an answer: a few numbers added to each of some cells.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/math/exact_sum.hpp"

namespace margin {

class CellSums {
 public:
  struct Cell {
    std::int64_t at;
    ExactSum sum;
  };

  CellSums() = default;
  /// Cells 0 … count − 1.
  explicit CellSums(std::int64_t count)
      : near_(static_cast<std::size_t>(std::clamp<std::int64_t>(count, 0, most_near))) {}

  void add(std::int64_t at, double value) { sum_of(at).add(value); }
  void add(std::int64_t at, const ExactSum& sum) { sum_of(at).add(sum); }
  /// Those that something was added to, in their order.
  std::vector<Cell> all() const {
    std::vector<Cell> cells;
    for (std::size_t at = 0; at < near_.size(); ++at)
      if (near_[at].used) cells.push_back({static_cast<std::int64_t>(at), near_[at].sum});
    const std::size_t sorted = cells.size();
    for (const auto& [at, sum] : far_) cells.push_back({at, sum});
    std::sort(cells.begin() + static_cast<std::ptrdiff_t>(sorted), cells.end(),
              [](const Cell& a, const Cell& b) { return a.at < b.at; });
    return cells;
  }

 private:
  static constexpr std::int64_t most_near = 4096;  // of a confusion matrix of many classes few cells are used
  struct Near {
    ExactSum sum;
    bool used = false;
  };
  ExactSum& sum_of(std::int64_t at) {
    if (at >= static_cast<std::int64_t>(near_.size())) return far_[at];
    Near& cell = near_[static_cast<std::size_t>(at)];
    cell.used = true;
    return cell.sum;
  }

  std::vector<Near> near_;
  std::unordered_map<std::int64_t, ExactSum> far_;
};

}  // namespace margin
