// What is left of margin.memory_limit, and the error where that is too little.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/error.hpp"

namespace margin {

/// Bytes as messages show them: what is needed rounded up, what there is rounded down; kB below 10 MB.
inline std::string size_text(double bytes, bool round_up) {
  const bool small = bytes < 10 * 1048576.0;
  const double units = bytes / (small ? 1024.0 : 1048576.0);
  return std::to_string(static_cast<long long>(round_up ? std::ceil(units) : std::floor(units))) +
         (small ? " kB" : " MB");
}

/// What is left of a limit. A value: a part of the work gets a copy and counts on its own.
class MemoryBudget {
 public:
  MemoryBudget() = default;  ///< no limit
  /// `left` in bytes; negative: no limit.
  explicit MemoryBudget(double left) : left_(left) {}

  bool allows(double bytes) const { return left_ < 0 || bytes <= left_; }
  double left_or(double no_limit) const { return left_ < 0 ? no_limit : left_; }
  /// Throws Error(limit_exceeded) where `what` needs more bytes than are left.
  void require(double bytes, const std::string& what) const {
    if (allows(bytes)) return;
    throw Error(
        ErrorKind::limit_exceeded,
        what + " needs about " + size_text(bytes, true) + ", and margin.memory_limit leaves " + size_text(left_, false),
        "Raise margin.memory_limit, or train on fewer rows.");
  }
  /// These bytes are in use from now on.
  void use(double bytes) {
    if (left_ >= 0) left_ = std::max(0.0, left_ - bytes);
  }
  /// Both.
  void take(double bytes, const std::string& what) {
    require(bytes, what);
    use(bytes);
  }

 private:
  double left_ = -1;
};

}  // namespace margin
