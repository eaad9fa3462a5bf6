// Text inside an XML document.
#pragma once

#include <string>
#include <string_view>

namespace margin {

/// `text` for element content or the value of an attribute: markup characters and the white space that a parser would
/// change become references. What XML 1.0 cannot express (other control characters, U+FFFE, U+FFFF) becomes
/// U+FFFD, the replacement character, as a reference; so the result is as valid as the encoding of `text`.
std::string xml_text(std::string_view text);
/// The same for names, which are not to become others: throws Error(invalid_value) for what XML cannot express.
std::string xml_name(std::string_view text);

}  // namespace margin
