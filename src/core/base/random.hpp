// A small seeded generator with a fixed definition: std:: distributions may differ between standard libraries, and the
// same seed must give the same model.
#pragma once

#include <cstdint>

namespace margin {

/// splitmix64 (Steele, Lea, Flood 2014): full period 2^64, every seed is good.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  /// Uniform on 0 … n−1 for 1 ≤ n ≤ 2^32, to within n/2^32 (multiply and shift; no division, no rejection).
  std::uint32_t below(std::uint64_t n) { return static_cast<std::uint32_t>(((next() >> 32) * n) >> 32); }
  /// Uniform on [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace margin
