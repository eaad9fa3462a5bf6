// Many sums that carry their rounding errors, which take in a number each.
#pragma once

#include <vector>

#include "core/math/exact_sum.hpp"
#include "core/simd/carried_sums.hpp"

namespace margin {

/// Each has the bits of an ExactSum of the same numbers.
class ExactSums {
 public:
  ExactSums() = default;
  explicit ExactSums(std::size_t count) : rounded_(count), lost_(count) {}

  /// A number for each.
  void add(const double* v) { add_carried()(v, rounded_.size(), rounded_.data(), lost_.data()); }
  void add(std::size_t k, const ExactSum& sum) {
    ExactSum both = at(k);
    both.add(sum);
    set(k, both);
  }
  ExactSum at(std::size_t k) const { return ExactSum::of(rounded_[k], lost_[k]); }
  void set(std::size_t k, const ExactSum& sum) {
    rounded_[k] = sum.rounded();
    lost_[k] = sum.lost();
  }

 private:
  std::vector<double> rounded_, lost_;
};

}  // namespace margin
