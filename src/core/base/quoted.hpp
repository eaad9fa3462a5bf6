// Somebody's text within a message.
#pragma once

#include <string>
#include <string_view>

namespace margin {

/// In quotes; of a long text its beginning, up to 40 bytes and not within a character: those of other languages are more than one
/// byte, which all encodings of servers keep above ASCII.
inline std::string quoted(std::string_view text) {
  if (text.size() <= 40) return "\"" + std::string(text) + "\"";
  std::size_t end = 40;
  while (end > 0 && static_cast<unsigned char>(text[end]) >= 0x80) --end;
  return "\"" + std::string(text.substr(0, end)) + "...\"";
}

}  // namespace margin
