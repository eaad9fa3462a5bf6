// What rows leave behind that tells whether other rows are the same: 128 bits that add up, whatever the order and the
// parts in which rows come.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/data/row.hpp"

namespace margin {

/// A number of 128 bits. Equal multisets of rows have equal sums; other ones have other sums, but for a chance of about
/// 2^−64 that no accident meets. It is no signature: who wants to can find rows of the same sum.
struct Fingerprint {
  std::uint64_t low = 0, high = 0;

  Fingerprint& operator+=(const Fingerprint& o) {
    low += o.low;
    high += o.high + (low < o.low ? 1 : 0);
    return *this;
  }
  bool operator==(const Fingerprint& o) const { return low == o.low && high == o.high; }
  bool operator!=(const Fingerprint& o) const { return !(*this == o); }
};

/// Of one row: the values of its features that are not 0, by their places, in whatever form they are stored; its label as
/// text (of a class) or as the ends of what it may be (of a target), and its weight. No number is NaN.
/// Source: NH of UMAC (Black, Halevi, Krawczyk, Krovetz & Rogaway 1999), with keys that anybody knows.
Fingerprint fingerprint_of(const Row& x, std::string_view label, double lower, double upper, double weight);

}  // namespace margin
