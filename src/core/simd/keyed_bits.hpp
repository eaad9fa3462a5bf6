// The bits of numbers with a key for each place: one more inner loop, apart from the table (simd/loops.hpp) that every
// solver includes.
#pragma once

#include <cstdint>

#include "core/simd/loops.hpp"

namespace margin {

/// The first key is a multiple of that, the following ones the multiples behind it: one odd number.
constexpr std::uint64_t key_step = 0x9e3779b97f4a7c15U;
/// A multiple as a key: its upper half changes the lower one.
constexpr std::uint64_t mixed_key(std::uint64_t multiple) { return multiple ^ (multiple >> 29); }

/// out[k] = the bits of x[k] as a double, those of 0 for −0, plus mixed_key(first + k · key_step), for n numbers. Up to 7
/// more of `out` are overwritten. All sets give the same bits.
struct KeyedBits {
  void (*of_floats)(const float* x, std::size_t n, std::uint64_t first, std::uint64_t* out);
  void (*of_doubles)(const double* x, std::size_t n, std::uint64_t first, std::uint64_t* out);
};

/// The loops of the same instruction set as those of the table.
KeyedBits keyed_bits_of(const SimdLoops& set);
inline const KeyedBits& keyed_bits() {
  static const KeyedBits chosen = keyed_bits_of(simd());
  return chosen;
}

}  // namespace margin
