// Numbers as text, whatever the locale is.
#pragma once

#include <charconv>
#include <string>

namespace margin {

/// The shortest decimal that reads back as the same double; "inf" and "nan" of what is not finite.
inline std::string shortest(double value) {
  char text[40];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

}  // namespace margin
