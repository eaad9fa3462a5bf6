// The fold of a row by a hash of its key: the same for a key at any time, on every platform, whatever other rows there
// are.
#pragma once

#include <cstdint>
#include <string_view>

namespace margin {

/// A fold in [1, folds]: FNV-1a over the seed and the bytes, then splitmix64's finaliser.
inline std::int32_t fold_of(std::string_view key, std::int32_t folds, std::int64_t seed) {
  constexpr std::uint64_t prime = 0x100000001B3;
  std::uint64_t h = 0xCBF29CE484222325;
  for (int k = 0; k < 8; ++k) h = (h ^ (static_cast<std::uint64_t>(seed) >> (8 * k) & 255)) * prime;
  for (const char c : key) h = (h ^ static_cast<unsigned char>(c)) * prime;
  h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9;
  h = (h ^ (h >> 27)) * 0x94D049BB133111EB;
  h ^= h >> 31;
  return static_cast<std::int32_t>(h % static_cast<std::uint32_t>(folds)) + 1;
}

}  // namespace margin
