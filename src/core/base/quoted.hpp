// Somebody's text within a message or a picture.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace margin {

/// The first `most` characters of a text in UTF-8. In other encodings of servers a character of several bytes has none of ASCII at its
/// beginning: of such a text the first `most` bytes, or fewer, up to one of ASCII.
inline std::string_view beginning(std::string_view text, std::size_t most) {
  std::size_t end = 0;
  for (std::size_t count = 0; end < text.size() && count < most; ++count) {
    const auto lead = static_cast<unsigned char>(text[end]);
    const std::size_t bytes = lead < 0x80 ? 1 : lead < 0xc0 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    bool whole = bytes > 0 && bytes <= text.size() - end;
    for (std::size_t k = 1; whole && k < bytes; ++k) whole = (static_cast<unsigned char>(text[end + k]) & 0xc0) == 0x80;
    if (!whole) {
      end = std::min(most, text.size());
      while (end < text.size() && end > 0 && static_cast<unsigned char>(text[end]) >= 0x80) --end;
      break;
    }
    end += bytes;
  }
  return text.substr(0, end);
}

/// In quotes, of a long text its beginning.
inline std::string quoted(std::string_view text) {
  const std::string_view shown = beginning(text, 40);
  return "\"" + std::string(shown) + (shown.size() < text.size() ? "...\"" : "\"");
}

/// A number with its noun.
inline std::string counted(std::int64_t n, const char* noun) {
  return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

}  // namespace margin
