// Doubles as whole numbers in the same order.
#pragma once

#include <cstdint>
#include <cstring>

namespace margin {

/// A number that orders as the doubles do; −0 comes right before 0. Not of NaN.
inline std::uint64_t order_of(double v) {
  std::uint64_t bits;
  std::memcpy(&bits, &v, sizeof bits);
  return (bits >> 63) != 0 ? ~bits : bits | (std::uint64_t{1} << 63);
}

/// The double of an order.
inline double value_of_order(std::uint64_t order) {
  const std::uint64_t bits = (order >> 63) != 0 ? order & ~(std::uint64_t{1} << 63) : ~order;
  double v;
  std::memcpy(&v, &bits, sizeof v);
  return v;
}

}  // namespace margin
