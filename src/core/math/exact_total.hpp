// Sums without any rounding: a number of as many digits as the terms need, of base 2^32 with room for carries (after
// Neal 2015, "Fast exact summation using small and large superaccumulators"). So a sum has the same digits whatever the
// order of its terms and however parts of it were merged, and what is made of it is rounded once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace margin {

/// Σ of finite doubles in units of 2^-1074, or Σ of their squares in units of 2^-2148: whoever adds says which.
class ExactTotal {
 public:
  /// The digits of every sum of 2^53 doubles, and of their squares, are below these.
  static constexpr std::int32_t most_digits = 69, most_square_digits = 136;

  void add(double v) {
    const Parts p = parts(v);
    if (p.mantissa != 0) add_at(p.mantissa, p.position, p.negative);
  }
  void add_square(double v) {
    const Parts p = parts(v);
    if (p.mantissa == 0) return;
    const std::uint64_t high = p.mantissa >> 27, low = p.mantissa & ((std::uint64_t{1} << 27) - 1);
    add_at(high * high, 2 * p.position + 54, false);
    add_at(2 * high * low, 2 * p.position + 27, false);
    add_at(low * low, 2 * p.position, false);
  }
  void add(const ExactTotal& other);
  /// Numbers, ascending, and their squares: several times faster than one by one.
  static void add_sorted(const std::vector<double>& values, ExactTotal& sum, ExactTotal& squares);

  /// The number as sign and size, in the one way that it can be written: neither end of the digits is 0.
  struct Digits {
    bool negative = false;
    std::int32_t first = 0;  ///< digits[0] counts 2^(32 · first)
    std::vector<std::uint32_t> digits = {};
  };
  Digits digits() const;
  /// Whether these can be digits() of a sum with `most` digits at most.
  static bool sound(const Digits& d, std::int32_t most);
  static ExactTotal of(const Digits& d);

  /// A sum of doubles divided by `count` ≥ 1, rounded once: between the least and the largest of the terms.
  double mean(std::int64_t count) const;
  /// Σ (v − mean)² / freedom of `count` values by the sums of them and of their squares, exact up to the last two
  /// roundings, and its root, which may be finite where it is not. Nothing is below 0.
  static double deviation(const ExactTotal& sum, const ExactTotal& squares, std::int64_t count, std::int64_t freedom);
  /// Whether Σ v² · count ≥ (Σ v)², as it is of all numbers.
  static bool possible(const ExactTotal& sum, const ExactTotal& squares, std::int64_t count);

  double bytes() const { return 8.0 * static_cast<double>(digits_.capacity()); }

 private:
  struct Parts {
    std::uint64_t mantissa;
    std::int32_t position;
    bool negative;
  };
  static Parts parts(double v) {
    std::uint64_t bits;
    std::memcpy(&bits, &v, sizeof bits);
    constexpr std::uint64_t fraction = (std::uint64_t{1} << 52) - 1;
    const auto exponent = static_cast<std::int32_t>(bits >> 52 & 0x7FF);
    return {(bits & fraction) | (exponent > 0 ? fraction + 1 : 0), exponent > 0 ? exponent - 1 : 0, (bits >> 63) != 0};
  }

  void add_at(std::uint64_t mantissa, std::int32_t position, bool negative) {
    const std::int32_t digit = position >> 5, shift = position & 31;
    if (digit < first_ || digit + 3 > first_ + static_cast<std::int32_t>(digits_.size())) make_room(digit, digit + 3);
    std::int64_t* const to = digits_.data() + (digit - first_);
    const auto low = static_cast<std::int64_t>((mantissa << shift) & mask),
               middle = static_cast<std::int64_t>((mantissa >> (32 - shift)) & mask),
               high = static_cast<std::int64_t>((mantissa >> 32) >> (32 - shift));
    const std::int64_t sign = negative ? -1 : 1;
    to[0] += sign * low;
    to[1] += sign * middle;
    to[2] += sign * high;
    if (++pending_ >= most_pending) carry();
  }
  void make_room(std::int32_t from, std::int32_t to);
  void carry();

  static constexpr std::uint64_t mask = 0xFFFFFFFF;
  static constexpr std::int64_t most_pending = std::int64_t{1} << 29;
  std::int32_t first_ = 0;
  std::int64_t pending_ = 0;          // terms since the last carry: none adds more than 2^32 to a digit
  std::vector<std::int64_t> digits_;  // of base 2^32, whatever their signs; but the last, within ±2^32 after carry()
};

}  // namespace margin
