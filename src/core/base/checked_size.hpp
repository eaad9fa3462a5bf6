// Sizes that somebody stated: the width of a stored encoder, the features of a row, the counts of a document. Their sums
// and products are made here, where they cannot overflow, and become a number to allocate or to index by in one place,
// which refuses what is too large.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "core/base/error.hpp"

namespace margin {

/// A size of 0 or more. What would be larger than it can be, or is negative, stays at the largest, which index() refuses.
class CheckedSize {
 public:
  constexpr CheckedSize() = default;
  constexpr CheckedSize(std::int64_t n) : n_(n < 0 || n > beyond ? beyond : n) {}

  friend constexpr CheckedSize operator+(CheckedSize a, CheckedSize b) { return CheckedSize(a.n_ + b.n_); }
  friend constexpr CheckedSize operator*(CheckedSize a, CheckedSize b) {
    return a.n_ != 0 && b.n_ > beyond / a.n_ ? CheckedSize(beyond) : CheckedSize(a.n_ * b.n_);
  }
  CheckedSize& operator+=(CheckedSize other) { return *this = *this + other; }

  constexpr bool fits(std::int64_t most) const { return n_ <= most; }
  double number() const { return static_cast<double>(n_); }
  /// What features, rows of a matrix, elements of an array are numbered by. Throws Error(limit_exceeded): `what`, as in
  /// "the columns", has more than 2³¹ − 1 `of`, as in "features".
  std::int32_t index(const char* what, const char* of, const char* hint = "") const {
    if (fits(most)) return static_cast<std::int32_t>(n_);
    throw Error(ErrorKind::limit_exceeded,
                std::string(what) + " would have more than " + std::to_string(most) + " " + of, hint);
  }

  static constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();

 private:
  static constexpr std::int64_t beyond = std::int64_t{1} << 61;  // twice of it is no overflow
  std::int64_t n_ = 0;
};

}  // namespace margin
