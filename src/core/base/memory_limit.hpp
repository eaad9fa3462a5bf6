// What is said when margin.memory_limit leaves too little.
#pragma once

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

/// Throws Error(limit_exceeded) where `what` needs more bytes than are left; a negative `left` is no limit.
inline void require_memory(double needed, double left, const std::string& what) {
  if (left < 0 || needed <= left) return;
  throw Error(
      ErrorKind::limit_exceeded,
      what + " needs about " + size_text(needed, true) + ", and margin.memory_limit leaves " + size_text(left, false),
      "Raise margin.memory_limit, or train on fewer rows.");
}

}  // namespace margin
