// The sum of a list of numbers, and the smallest and the largest sum of its beginnings, the empty one among them, while single
// numbers of it grow or shrink: a binary tree over the list, of which each node knows the three of its part. Nothing is taken
// away again, so that a sum of k numbers of size m in all is off by less than (k + 64) u m.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/base/progress.hpp"

namespace margin {

class PrefixSums {
 public:
  /// `count` ≥ 1 zeros.
  void reset(std::size_t count, const Progress& progress) {
    constexpr std::size_t at_once = 4096;
    leaves_ = 1;
    while (leaves_ < count) leaves_ *= 2;
    nodes_.clear();
    nodes_.reserve(2 * leaves_);
    while (nodes_.size() < 2 * leaves_) {
      nodes_.resize(std::min(2 * leaves_, nodes_.size() + at_once));
      progress.work(static_cast<double>(3 * std::min(2 * leaves_, at_once)));
    }
  }
  void add(std::size_t at, double value) {
    std::size_t node = leaves_ + at;
    const double sum = nodes_[node].sum + value;
    nodes_[node] = {sum, std::min(0.0, sum), std::max(0.0, sum)};
    for (node /= 2; node > 0; node /= 2) {
      const Node &left = nodes_[2 * node], &right = nodes_[2 * node + 1];
      nodes_[node] = {left.sum + right.sum, std::min(left.lowest, left.sum + right.lowest),
                      std::max(left.highest, left.sum + right.highest)};
    }
  }
  double sum() const { return nodes_[1].sum; }
  double lowest() const { return nodes_[1].lowest; }
  double highest() const { return nodes_[1].highest; }

 private:
  struct Node {
    double sum = 0, lowest = 0, highest = 0;
  };
  std::size_t leaves_ = 1;
  std::vector<Node> nodes_ = std::vector<Node>(2);
};

}  // namespace margin
