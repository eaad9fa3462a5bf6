// The elements of a set in one row, gathered one by one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/data/row.hpp"

namespace margin {

class SetCell {
 public:
  void clear() { numbers_.clear(); }
  /// An element by its number; one below 0 is not known, and left out.
  void add(std::int32_t number) {
    if (number < 0) return;
    if (numbers_.size() >= next_) sort();
    numbers_.push_back(number);
  }
  /// Each element once, ascending, with the value 1; valid until the next call.
  FeatureRow row() {
    sort();
    if (ones_.size() < numbers_.size()) ones_.resize(numbers_.size(), 1.0F);
    return sparse_row(numbers_.data(), ones_.data(), static_cast<std::int32_t>(numbers_.size()), 0);
  }

 private:
  static constexpr std::size_t few = 64;
  /// Memory is that of different elements, however often a row repeats them.
  void sort() {
    std::sort(numbers_.begin(), numbers_.end());
    numbers_.erase(std::unique(numbers_.begin(), numbers_.end()), numbers_.end());
    next_ = std::max(few, 2 * numbers_.size());
  }

  std::vector<std::int32_t> numbers_;
  std::vector<float> ones_;
  std::size_t next_ = few;
};

}  // namespace margin
