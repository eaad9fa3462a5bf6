#include "core/formats/xml_reader.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/base/quoted.hpp"

namespace margin {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// Letters of other languages are more than one byte, which all encodings of servers keep above ASCII.
bool begins_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool continues_name(char c) { return begins_name(c) || (c >= '0' && c <= '9') || c == '-' || c == '.'; }

}  // namespace

void XmlReader::refuse_at(std::size_t at, const std::string& problem) const {
  const std::string_view before = text_.substr(0, at);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t newline = before.rfind('\n');
  const std::size_t byte = newline == std::string_view::npos ? at + 1 : at - newline;
  throw Error(ErrorKind::malformed,
              std::string("malformed ") + what_ + ": line " + std::to_string(line) + ", byte " + std::to_string(byte) +
                  ": " + problem,
              std::string("Give the whole text of the ") + what_ + " as it was written.");
}

/// What is at hand, for messages.
std::string XmlReader::found() const {
  if (at_ >= text_.size()) return "the end";
  const auto c = static_cast<unsigned char>(text_[at_]);
  if (c < 0x20) return "the character " + std::to_string(static_cast<int>(c));
  return c < 0x80 ? "\"" + std::string(1, text_[at_]) + "\"" : "a character beyond ASCII";
}

void XmlReader::step() {
  if ((++at_ & 0xfff) == 0) progress_.work(4.0 * 0x1000);
}

void XmlReader::skip_blanks() {
  while (at_ < text_.size() && is_blank(text_[at_])) step();
}

/// Past what begins here with `start`.
void XmlReader::pass(std::string_view start, std::string_view end, const char* of_what) {
  const std::size_t begin = at_;
  at_ += start.size();
  while (!follows(end)) {
    if (at_ >= text_.size()) refuse_at(begin, std::string(of_what) + " has no end, expected " + std::string(end));
    step();
  }
  at_ += end.size();
}

/// To the next tag, or to the end.
void XmlReader::skip_text() {
  for (;;) {
    skip_blanks();
    progress_.work(16);
    if (follows("<!--")) {
      pass("<!--", "-->", "a comment");
    } else if (follows("<?")) {
      pass("<?", "?>", "a processing instruction");
    } else if (follows("<![CDATA[") && skipping_) {
      pass("<![CDATA[", "]]>", "a CDATA section");
    } else if (follows("<!")) {
      refuse_at(at_, follows("<![CDATA[") ? "has text where an element is expected"
                                          : "has a declaration, which is not read: expected an element");
    } else if (at_ < text_.size() && text_[at_] != '<') {
      if (!skipping_ || open_.empty()) refuse_at(at_, "has " + found() + " where an element is expected");
      while (at_ < text_.size() && text_[at_] != '<') step();
    } else {
      return;
    }
  }
}

std::string_view XmlReader::read_name(const char* expected) {
  const std::size_t begin = at_;
  if (at_ >= text_.size() || !begins_name(text_[at_]))
    refuse_at(at_, "has " + found() + " where " + expected + " is expected");
  while (at_ < text_.size() && continues_name(text_[at_])) step();
  return text_.substr(begin, at_ - begin);
}

void XmlReader::expect(char c) {
  if (at_ >= text_.size() || text_[at_] != c)
    refuse_at(at_, "has " + found() + " where \"" + std::string(1, c) + "\" is expected");
  step();
}

char XmlReader::read_reference() {
  progress_.work(64);
  const std::size_t begin = at_, end = text_.substr(0, std::min(text_.size(), at_ + 12)).find(';', at_);
  if (end == std::string_view::npos) refuse_at(begin, "has a \"&\" that begins no reference: expected &amp;");
  const std::string_view name = text_.substr(begin + 1, end - begin - 1);
  at_ = end + 1;
  constexpr std::pair<std::string_view, char> known[] = {
      {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
  for (const auto& [text, c] : known)
    if (name == text) return c;
  const bool hexadecimal = name.substr(0, 2) == "#x";
  const std::string_view digits = name.substr(std::min<std::size_t>(name.size(), hexadecimal ? 2 : 1));
  int code = name.substr(0, 1) == "#" && !digits.empty() ? 0 : -1;
  for (const char c : digits) {
    const int digit = c >= '0' && c <= '9'                  ? c - '0'
                      : hexadecimal && c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : hexadecimal && c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                            : -1;
    code = code < 0 || digit < 0 ? -1 : std::min(code * (hexadecimal ? 16 : 10) + digit, 0x110000);
  }
  if (code > 0x7f) refuse_at(begin, "has a reference to a character beyond ASCII: expected the character itself");
  if (code < 0 || (code < 0x20 && !is_blank(static_cast<char>(code))))
    refuse_at(begin, "has " + quoted(text_.substr(begin, end + 1 - begin)) + " where a reference is expected");
  return static_cast<char>(code);
}

std::string XmlReader::read_value() {
  const std::size_t begin = at_;
  if (at_ >= text_.size() || (text_[at_] != '"' && text_[at_] != '\''))
    refuse_at(at_, "has " + found() + " where a quoted value is expected");
  const char quote = text_[at_];
  step();
  std::string value;
  for (;;) {
    if (at_ >= text_.size()) refuse_at(begin, "a value has no end");
    const char c = text_[at_];
    if (c == quote) break;
    if (c == '&') {
      value += read_reference();
      continue;
    }
    if (c == '<' || (static_cast<unsigned char>(c) < 0x20 && !is_blank(c)))
      refuse_at(at_, "has " + found() + " in a value");
    value += is_blank(c) ? ' ' : c;  // as XML says of white space that is no reference
    step();
  }
  step();
  return value;
}

void XmlReader::read_start() {
  begin_ = at_;
  step();
  name_ = read_name("the name of an element");
  attributes_.clear();
  for (;;) {
    const std::size_t before = at_;
    skip_blanks();
    if (at_ < text_.size() && (text_[at_] == '>' || text_[at_] == '/')) break;
    if (at_ == before) refuse_at(at_, "has " + found() + " where white space or \">\" is expected");
    const std::size_t place = at_;
    const std::string_view attribute = read_name("an attribute or \">\"");
    if (find(attribute) != nullptr) refuse_at(place, "has the attribute " + quoted(attribute) + " twice");
    if (attributes_.size() == most_attributes) refuse_at(place, "has more than 64 attributes");
    skip_blanks();
    expect('=');
    skip_blanks();
    attributes_.emplace_back(attribute, read_value());
  }
  empty_ = text_[at_] == '/';
  if (empty_) step();
  expect('>');
  if (open_.empty() && root_) refuse_at(begin_, "begins a second root element");
  if (open_.size() == deepest) refuse_at(begin_, "lies more than 64 elements deep");
  root_ = true;
  open_.push_back(name_);
}

void XmlReader::read_end() {
  begin_ = at_;
  at_ += 2;
  name_ = read_name("the name of an element");
  skip_blanks();
  expect('>');
  if (open_.empty() || open_.back() != name_)
    refuse_at(begin_, "ends " + quoted(name_) + (open_.empty() ? std::string() : ", expected " + quoted(open_.back())));
  open_.pop_back();
}

bool XmlReader::next() {
  if (empty_) {
    empty_ = false;
    name_ = open_.back();
    open_.pop_back();
    return false;
  }
  if (at_ == 0 && follows("\xEF\xBB\xBF")) at_ = 3;
  skip_text();
  if (at_ >= text_.size()) {
    begin_ = at_;
    if (!open_.empty()) refuse_at(at_, "ends within the element " + quoted(open_.back()));
    if (!root_) refuse_at(at_, "has nothing where an element is expected");
    return false;
  }
  progress_.work(64);
  if (follows("</")) {
    read_end();
    return false;
  }
  read_start();
  return true;
}

void XmlReader::skip() {
  const std::size_t depth = open_.size();
  skipping_ = true;
  while (open_.size() >= depth) next();
  skipping_ = false;
}

const std::string* XmlReader::find(std::string_view attribute) const {
  for (const auto& [name, value] : attributes_)
    if (name == attribute) return &value;
  return nullptr;
}

const std::string& XmlReader::require(std::string_view attribute) const {
  const std::string* const value = find(attribute);
  if (value == nullptr) refuse("element " + quoted(name_) + " has no attribute " + quoted(attribute));
  return *value;
}

void XmlReader::require_only(std::string_view attributes) const {
  for (const auto& entry : attributes_) {
    std::string key(" ");
    key.append(entry.first).append(" ");
    if (attributes.find(key) == std::string_view::npos)
      refuse("element " + quoted(name_) + " has the attribute " + quoted(entry.first) + ", expected are none but" +
             std::string(attributes.substr(0, attributes.size() - 1)));
  }
}

}  // namespace margin
