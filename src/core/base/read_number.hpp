// Numbers from text, whatever the locale is.
#pragma once

#include <charconv>

namespace margin {

/// std::from_chars for double, which libc++ has from version 20 on: no blanks, no plus, no hexadecimal digits.
std::from_chars_result read_number(const char* first, const char* last, double& value);

/// The same by the C library, for where the standard library has none.
std::from_chars_result read_number_by_strtod(const char* first, const char* last, double& value);

}  // namespace margin
