#include "core/data/sparse_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/error.hpp"
#include "core/base/progress.hpp"
#include "core/base/read_number.hpp"

namespace margin {

namespace {

constexpr std::int32_t largest_index = std::numeric_limits<std::int32_t>::max();

bool blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool digit(char c) { return c >= '0' && c <= '9'; }

class Parser {
 public:
  Parser(std::string_view text, const Progress& progress)
      : begin_(text.data()), at_(begin_), end_(begin_ + text.size()), progress_(progress) {
    // No entry is shorter than "1:2 ", few are longer than 12.
    v_.indices.reserve(text.size() / 8 + 1);
    v_.values.reserve(text.size() / 8 + 1);
  }

  SparseVector parse() {
    skip_blanks();
    if (at_ != end_ && *at_ == '{')
      braces();
    else
      libsvm();
    const std::int32_t twice = put_in_order(v_, progress_);
    if (twice >= 0) refuse_entry(twice, 2, " is given twice");
    return std::move(v_);
  }

 private:
  void braces() {
    ++at_;
    skip_blanks();
    if (!accept('}')) {
      for (;;) {
        index();
        skip_blanks();
        expect(':', "after the index");
        skip_blanks();
        value();
        skip_blanks();
        if (accept('}')) break;
        expect(',', "or \"}\" after the value");
        skip_blanks();
      }
    }
    skip_blanks();
    if (accept('/')) dimensions();
    skip_blanks();
    if (at_ != end_) refuse(at_, "expected the end of the text, found " + found(at_));
  }

  void libsvm() {
    while (at_ != end_) {
      index();
      expect(':', "after the index");
      value();
      if (at_ == end_) return;
      if (!blank(*at_)) refuse(at_, "expected a blank or the end of the text after the value, found " + found(at_));
      skip_blanks();
    }
  }

  void index() {
    const char* start = at_;
    const std::int32_t i = integer("an index");
    if (i == 0) refuse(start, "the index is 0, expected 1 or more");
    if (i - 1 == watched_ && --left_ == 0) refuse(start, problem_);
    v_.indices.push_back(i - 1);
    progress_.work(64);
  }

  void value() {
    const char* start = at_;
    const char* number = at_ != end_ && *at_ == '+' && at_ + 1 != end_ && at_[1] != '-' ? at_ + 1 : at_;
    double value = 0;
    const auto [next, error] = read_number(number, end_, value);
    if (error == std::errc::invalid_argument) refuse(start, "expected a number, found " + found(start));
    if (error == std::errc::result_out_of_range) refuse(start, "the value is out of the range of double precision");
    if (!std::isfinite(value)) refuse(start, "the value is not a finite number");
    at_ = next;
    v_.values.push_back(value);
  }

  void dimensions() {
    skip_blanks();
    const char* start = at_;
    v_.dimensions = integer("the number of dimensions");
    if (v_.dimensions == 0) refuse(start, "the number of dimensions is 0, expected 1 or more");
    for (const std::int32_t i : v_.indices)
      if (i >= v_.dimensions)
        refuse_entry(i, 1, " is beyond the stated " + std::to_string(v_.dimensions) + " dimensions");
  }

  std::int32_t integer(const char* what) {
    const char* start = at_;
    if (at_ == end_ || !digit(*at_)) {
      if (at_ != end_ && *at_ == '-') refuse(at_, std::string(what) + " cannot be negative");
      refuse(at_, std::string("expected ") + what + ", found " + found(at_));
    }
    std::int64_t n = 0;
    for (; at_ != end_ && digit(*at_); ++at_) {
      progress_.work(2);  // zeros in front may be many
      n = n * 10 + (*at_ - '0');
      if (n > largest_index) refuse(start, std::string(what) + " is beyond " + std::to_string(largest_index));
    }
    return static_cast<std::int32_t>(n);
  }

  void skip_blanks() {
    for (; at_ != end_ && blank(*at_); ++at_) progress_.work(1);
  }
  bool accept(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  void expect(char c, const char* where) {
    if (!accept(c)) refuse(at_, "expected \"" + std::string(1, c) + "\" " + where + ", found " + found(at_));
  }

  /// Refuse the entry where index `i` stands for the `nth` time: the text is parsed again up to there.
  [[noreturn]] void refuse_entry(std::int32_t i, int nth, const std::string& problem) const {
    Parser again({begin_, static_cast<std::size_t>(end_ - begin_)}, progress_);
    again.watched_ = i;
    again.left_ = nth;
    again.problem_ = "index " + std::to_string(i + 1) + problem;
    again.parse();
    refuse(begin_, again.problem_);
  }

  std::string found(const char* p) const {
    if (p == end_) return "the end of the text";
    const auto c = static_cast<unsigned char>(*p);
    if (c > ' ' && c < 127) return "\"" + std::string(1, *p) + "\"";
    if (blank(*p)) return "a blank";
    constexpr const char* digits = "0123456789ABCDEF";
    return std::string("the byte 0x") + digits[c >> 4] + digits[c & 15];
  }

  [[noreturn]] void refuse(const char* p, const std::string& problem) const {
    throw Error(
        ErrorKind::malformed, "malformed margin_sparse at position " + std::to_string(p - begin_ + 1) + ": " + problem,
        "Write {index:value,...}/dimensions, {index:value,...} or, as LIBSVM does, index:value index:value ...");
  }

  const char* begin_;
  const char* at_;
  const char* end_;
  const Progress& progress_;
  SparseVector v_;
  std::int32_t watched_ = -1;  // an index whose `left_`th entry is to be refused
  int left_ = 0;
  std::string problem_;
};

template <class T>
char* put(char* to, char* end, T value) {
  return std::to_chars(to, end, value).ptr;
}

std::uint64_t take(const char*& from, int bytes) {
  std::uint64_t value = 0;
  for (int k = 0; k < bytes; ++k) value = value << 8 | static_cast<unsigned char>(*from++);
  return value;
}

void give(std::string& to, std::uint64_t value, int bytes) {
  for (int k = bytes - 1; k >= 0; --k) to += static_cast<char>(value >> (8 * k) & 255);
}

std::int32_t take_int(const char*& from) {
  const auto bits = static_cast<std::uint32_t>(take(from, 4));
  std::int32_t value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

double take_value(const char*& from, bool wide) {
  const std::uint64_t bits = take(from, wide ? 8 : 4);
  if (wide) {
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  const auto narrow = static_cast<std::uint32_t>(bits);
  float value;
  std::memcpy(&value, &narrow, sizeof value);
  return value;
}

[[noreturn]] void refuse_bytes(std::size_t at, const std::string& problem) {
  throw Error(ErrorKind::malformed_binary,
              "malformed binary margin_sparse at byte " + std::to_string(at + 1) + ": " + problem);
}

}  // namespace

SparseVector parse_sparse(std::string_view text, const Progress& progress) { return Parser(text, progress).parse(); }

std::string print_sparse(const FeatureRow& x, const Progress& progress) {
  constexpr std::size_t longest_entry = 11 + 1 + 25 + 1;  // "2147483647:-1.2345678901234567e-308,"
  char entry[longest_entry];
  char* const end = entry + longest_entry;
  std::string out = "{";
  out.reserve(static_cast<std::size_t>(x.count) * 20 + 16);  // what entries mostly take
  for (std::int32_t k = 0; k < x.count; ++k) {
    char* at = put(entry, end, x.indices[k] + 1);
    *at++ = ':';
    at = put(at, end, x.value(k));
    if (k > 0) out += ',';
    out.append(entry, static_cast<std::size_t>(at - entry));
    progress.work(128);
  }
  out += '}';
  if (x.dimensions > 0) out.append("/").append(entry, static_cast<std::size_t>(put(entry, end, x.dimensions) - entry));
  return out;
}

SparseVector read_sparse_wire(std::string_view bytes, const Progress& progress) {
  if (bytes.size() < sparse_header) refuse_bytes(bytes.size(), "the header of 12 bytes is not complete");
  const char* at = bytes.data();
  SparseVector v;
  v.dimensions = take_int(at);
  const std::int32_t count = take_int(at), wide = take_int(at);
  if (v.dimensions < 0) refuse_bytes(0, "the number of dimensions is " + std::to_string(v.dimensions));
  if (count < 0) refuse_bytes(4, "the number of entries is " + std::to_string(count));
  if (wide < 0 || wide > 1) refuse_bytes(8, "the kind of the values is " + std::to_string(wide) + ", expected 0 or 1");
  const auto n = static_cast<std::size_t>(count);
  const std::size_t expected = packed_bytes(n, wide == 1);
  if (bytes.size() != expected)
    refuse_bytes(std::min(bytes.size(), expected), std::to_string(n) + " entries take " + std::to_string(expected) +
                                                       " bytes, not " + std::to_string(bytes.size()));
  v.indices.resize(n);
  v.values.resize(n);
  std::int32_t least = 0;
  for (std::int32_t& i : v.indices) {
    const auto offset = static_cast<std::size_t>(at - bytes.data());
    i = take_int(at);
    progress.work(16);
    if (i < 0 || i == largest_index) refuse_bytes(offset, "the index is " + std::to_string(i));
    if (i < least) refuse_bytes(offset, "the index " + std::to_string(i) + " does not increase");
    if (v.dimensions > 0 && i >= v.dimensions)
      refuse_bytes(offset, "the index " + std::to_string(i) + " is beyond the stated " + std::to_string(v.dimensions) +
                               " dimensions");
    least = i + 1;
  }
  for (double& value : v.values) {
    const auto offset = static_cast<std::size_t>(at - bytes.data());
    value = take_value(at, wide == 1);
    progress.work(16);
    if (!std::isfinite(value)) refuse_bytes(offset, "the value is not a finite number");
  }
  put_in_order(v, progress);
  return v;
}

std::string write_sparse_wire(const FeatureRow& x, const Progress& progress) {
  std::string out;
  out.reserve(packed_bytes(static_cast<std::size_t>(x.count), x.wide));
  give(out, static_cast<std::uint32_t>(x.dimensions), 4);
  give(out, static_cast<std::uint32_t>(x.count), 4);
  give(out, x.wide ? 1 : 0, 4);
  for (std::int32_t k = 0; k < x.count; ++k) {
    give(out, static_cast<std::uint32_t>(x.indices[k]), 4);
    progress.work(16);
  }
  for (std::int32_t k = 0; k < x.count; ++k) {
    progress.work(32);
    std::uint64_t bits = 0;
    if (x.wide) {
      std::memcpy(&bits, x.doubles() + k, sizeof(double));
    } else {
      std::uint32_t narrow;
      std::memcpy(&narrow, x.floats() + k, sizeof narrow);
      bits = narrow;
    }
    give(out, bits, x.wide ? 8 : 4);
  }
  return out;
}

}  // namespace margin
