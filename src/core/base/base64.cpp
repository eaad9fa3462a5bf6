#include "core/base/base64.hpp"

#include <array>
#include <cstdint>

namespace margin {

namespace {

constexpr std::string_view base64_digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t no_digit = 64;

constexpr std::array<std::uint8_t, 256> values_of_digits() {
  std::array<std::uint8_t, 256> values{};
  for (std::uint8_t& v : values) v = no_digit;
  for (std::size_t k = 0; k < base64_digits.size(); ++k)
    values[static_cast<unsigned char>(base64_digits[k])] = static_cast<std::uint8_t>(k);
  return values;
}
constexpr std::array<std::uint8_t, 256> digit_values = values_of_digits();

}  // namespace

void write_base64(const char* bytes, std::size_t size, char* to) {
  const auto byte = [&](std::size_t k) -> std::uint32_t {
    return k < size ? static_cast<unsigned char>(bytes[k]) : std::uint32_t{0};
  };
  for (std::size_t k = 0; k < size; k += 3) {
    const std::uint32_t word = byte(k) << 16 | byte(k + 1) << 8 | byte(k + 2);
    *to++ = base64_digits[word >> 18];
    *to++ = base64_digits[word >> 12 & 63];
    *to++ = k + 1 < size ? base64_digits[word >> 6 & 63] : '=';
    *to++ = k + 2 < size ? base64_digits[word & 63] : '=';
  }
}

std::size_t base64_bytes(std::string_view text) {
  std::size_t bytes = text.size() / 4 * 3;
  for (std::size_t k = 0; k < 2 && bytes > 0 && text[text.size() - 1 - k] == '='; ++k) --bytes;
  return bytes;
}

std::size_t read_base64(std::string_view text, char* to) {
  const std::size_t bytes = base64_bytes(text);
  std::size_t written = 0;
  for (std::size_t k = 0; k + 4 <= text.size(); k += 4) {
    std::uint32_t word = 0;
    const std::size_t own = bytes - written < 3 ? bytes - written : 3;
    for (std::size_t i = 0; i < 4; ++i) {
      const std::uint8_t value = i <= own ? digit_values[static_cast<unsigned char>(text[k + i])] : std::uint8_t{0};
      if (value == no_digit) return k + i;
      word = word << 6 | value;
    }
    if ((own < 3 && (word & 0xff) != 0) || (own < 2 && (word & 0xff00) != 0)) return k + own;
    for (std::size_t i = 0; i < own; ++i) to[written++] = static_cast<char>(word >> (16 - 8 * i) & 0xff);
  }
  return text.size() / 4 * 4;
}

}  // namespace margin
