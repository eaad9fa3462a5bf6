// Turns a fuzzer's bytes into choices. When the bytes are used up every choice is the first one.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace fuzz {

class Bytes {
 public:
  Bytes(const std::uint8_t* bytes, std::size_t size) : at_(bytes), end_(bytes + size) {}
  bool empty() const { return at_ == end_; }
  std::uint8_t byte() { return at_ == end_ ? 0 : *at_++; }
  /// 0 … n − 1
  int below(int n) { return byte() % n; }
  template <class T>
  const T& among(const std::vector<T>& items) {
    return items[static_cast<std::size_t>(below(static_cast<int>(items.size())))];
  }

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

/// Ends the process, so that the fuzzer keeps the input; `what` names the broken promise.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

}  // namespace fuzz
