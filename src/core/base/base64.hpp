// Bytes as text: base64 of RFC 4648, Section 4, with padding and without line breaks.
#pragma once

#include <cstddef>
#include <string_view>

namespace margin {

constexpr std::size_t base64_size(std::size_t bytes) { return (bytes + 2) / 3 * 4; }
/// Writes base64_size(size) characters. A text may be made of pieces, each of a multiple of three bytes but the last.
void write_base64(const char* bytes, std::size_t size, char* to);

/// Of how many bytes a text is, which has a length that is a multiple of four.
std::size_t base64_bytes(std::string_view text);
/// Writes base64_bytes(text) bytes, and returns how many characters were read: fewer than there are where the next one cannot be, or
/// where bits are left over that are not 0. A text may be read in pieces, each of a multiple of four characters; padding ends it.
std::size_t read_base64(std::string_view text, char* to);

}  // namespace margin
