#include "core/formats/xml.hpp"

#include "core/base/error.hpp"

namespace margin {

namespace {
constexpr const char* replacement = "&#65533;";

/// U+FFFE and U+FFFF in UTF-8.
bool is_noncharacter(std::string_view text, std::size_t i) {
  const std::string_view here = text.substr(i, 3);
  return here == "\xEF\xBF\xBE" || here == "\xEF\xBF\xBF";
}

std::string xml_character(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\t':
    case '\n':
    case '\r':
      return "&#" + std::to_string(static_cast<int>(c)) + ";";
    default:
      return static_cast<unsigned char>(c) < 0x20 ? std::string(replacement) : std::string(1, c);
  }
}
}  // namespace

std::string xml_text(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_noncharacter(text, i)) {
      out += replacement;
      i += 2;
    } else {
      out += xml_character(text[i]);
    }
  }
  return out;
}

std::string xml_name(std::string_view text) {
  const auto refuse = [](const std::string& what) {
    throw Error(ErrorKind::invalid_value, "a name contains " + what + ", which XML cannot express",
                "Rename the feature or the class.");
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_noncharacter(text, i)) refuse("U+FFFE or U+FFFF");
    if (xml_character(text[i]) == replacement)
      refuse("the control character " + std::to_string(static_cast<int>(text[i])));
  }
  return xml_text(text);
}

}  // namespace margin
