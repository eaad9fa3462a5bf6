// Reads XML 1.0 element by element: text of unknown origin, checked in full, in memory that does not grow with it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/progress.hpp"

namespace margin {

/// The elements of a document in its order. White space, comments and processing instructions are passed over; document type
/// declarations, and with them entities of one's own, are refused, as are references to characters beyond ASCII: of the
/// encoding of the text nothing is known here but that it contains ASCII. Errors are Error(malformed) with the line and the byte.
class XmlReader {
 public:
  /// Kept by reference. `what`: what is read, for messages.
  XmlReader(std::string_view text, const char* what, const Progress& progress)
      : text_(text), what_(what), progress_(progress) {}

  /// Goes on to the next start or end of an element, and past the end of an element to its parent's next. True: at a start.
  /// Text is refused. At most `deepest` elements lie within each other; of several roots the second is refused.
  bool next();
  /// Within no element, after the root's end. To be asked after next() was false.
  bool finished() const { return open_.empty(); }
  /// Past the end of the element that next() started, whatever is in it.
  void skip();

  /// Of the element that next() started, or whose end it reached.
  std::string_view name() const { return name_; }
  /// The value of an attribute of the element that next() started; null: it has none of this name.
  const std::string* find(std::string_view attribute) const;
  /// The same; refuses where there is none.
  const std::string& require(std::string_view attribute) const;
  /// Refuses an attribute whose name is not among these, each between blanks.
  void require_only(std::string_view attributes) const;

  /// Throws Error(malformed): `problem` follows the place of the element.
  [[noreturn]] void refuse(const std::string& problem) const { refuse_at(begin_, problem); }

 private:
  static constexpr std::size_t deepest = 64, most_attributes = 64;

  [[noreturn]] void refuse_at(std::size_t at, const std::string& problem) const;
  bool follows(std::string_view what) const { return text_.substr(at_, what.size()) == what; }
  std::string found() const;
  void step();
  void skip_blanks();
  void pass(std::string_view start, std::string_view end, const char* of_what);
  void skip_text();
  std::string_view read_name(const char* expected);
  void expect(char c);
  void read_start();
  void read_end();
  std::string read_value();
  char read_reference();

  std::string_view text_;
  const char* what_;
  const Progress& progress_;
  std::size_t at_ = 0, begin_ = 0;  // of what is read, of the element
  bool root_ = false;               // has begun
  bool empty_ = false;              // the element that was started ends where it began
  bool skipping_ = false;
  std::vector<std::string_view> open_;
  std::string_view name_;
  std::vector<std::pair<std::string_view, std::string>> attributes_;
};

}  // namespace margin
