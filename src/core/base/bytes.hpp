// Values as bytes that leave the process: numbers little-endian, strings and arrays with their length before them. What
// is read may be anybody's bytes: every count is checked against what is left.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/base/error.hpp"

namespace margin {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are written as they lie in memory");

class ByteWriter {
 public:
  template <class T>
  std::enable_if_t<std::is_arithmetic_v<T> || std::is_enum_v<T>> operator()(const T& v) {
    raw(&v, sizeof v);
  }
  void operator()(const std::string& v) { sized(v.data(), v.size(), 1); }
  template <class T>
  std::enable_if_t<std::is_arithmetic_v<T>> operator()(const std::vector<T>& v) {
    sized(v.data(), v.size(), sizeof(T));
  }
  void raw(const void* p, std::size_t size) {
    if (size > 0) bytes_.append(static_cast<const char*>(p), size);
  }
  void sized(const void* p, std::size_t count, std::size_t each) {
    (*this)(static_cast<std::uint64_t>(count));
    raw(p, count * each);
  }
  std::string& bytes() { return bytes_; }

 private:
  std::string bytes_;
};

/// Reads what a ByteWriter wrote. Throws Error(malformed) naming `what` where the bytes end early.
class ByteReader {
 public:
  ByteReader(std::string_view bytes, const char* what) : left_(bytes), what_(what) {}

  template <class T>
  std::enable_if_t<std::is_arithmetic_v<T> || std::is_enum_v<T>> operator()(T& v) {
    if constexpr (std::is_same_v<T, bool>) {
      unsigned char byte;
      raw(&byte, 1);
      require(byte <= 1, "a truth value is neither 0 nor 1");
      v = byte == 1;
    } else {
      raw(&v, sizeof v);
    }
  }
  void operator()(std::string& v) {
    const std::size_t size = count(1);
    v.assign(left_.data(), size);
    left_.remove_prefix(size);
  }
  template <class T>
  std::enable_if_t<std::is_arithmetic_v<T>> operator()(std::vector<T>& v) {
    v.resize(count(sizeof(T)));
    raw(v.data(), v.size() * sizeof(T));
  }
  /// The number of elements that follow, of at least `each` bytes each.
  std::size_t count(std::size_t each) {
    std::uint64_t n;
    (*this)(n);
    require(n <= left_.size() / each, "a count is larger than what follows");
    return static_cast<std::size_t>(n);
  }
  void raw(void* p, std::size_t size) {
    require(size <= left_.size(), "it ends early");
    if (size > 0) std::memcpy(p, left_.data(), size);
    left_.remove_prefix(size);
  }
  std::string_view view(std::size_t size) {
    require(size <= left_.size(), "it ends early");
    const std::string_view out = left_.substr(0, size);
    left_.remove_prefix(size);
    return out;
  }
  std::size_t left() const { return left_.size(); }
  void finish() const { require(left_.empty(), "there are bytes behind its end"); }
  void require(bool sound, const char* problem) const {
    if (!sound) throw Error(ErrorKind::malformed, std::string("malformed ") + what_ + ": " + problem);
  }

 private:
  std::string_view left_;
  const char* what_;
};

}  // namespace margin
