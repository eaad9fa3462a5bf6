// One-hot columns by hashing: which column a category gets. Depends on the bytes alone, so that every platform and
// version gives a category the same column (Weinberger et al. 2009, without the signs: a value is 0 or 1).
#pragma once

#include <cstdint>
#include <string_view>

namespace margin {

/// A column in [0, width) for the category `text` of the `argument`-th argument: FNV-1a over the argument's number and
/// the bytes, then splitmix64's finaliser. The same text in another argument is another category.
inline std::int32_t hashed_column(std::int32_t argument, std::string_view text, std::int32_t width) {
  constexpr std::uint64_t prime = 0x100000001B3;
  std::uint64_t h = 0xCBF29CE484222325;
  for (int k = 0; k < 4; ++k) h = (h ^ (static_cast<std::uint32_t>(argument) >> (8 * k) & 255)) * prime;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * prime;
  h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9;
  h = (h ^ (h >> 27)) * 0x94D049BB133111EB;
  h ^= h >> 31;
  return static_cast<std::int32_t>(h % static_cast<std::uint32_t>(width));
}

}  // namespace margin
