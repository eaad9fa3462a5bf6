#include "core/math/bordered_factor.hpp"

#include <algorithm>
#include <cmath>

#include "core/simd/loops.hpp"

namespace margin {

namespace {
constexpr std::size_t lanes = 8;  // lengths are multiples of it, as what is left over takes loops longest
std::size_t whole(std::size_t n) { return n / lanes * lanes; }
}  // namespace

BorderedFactor::BorderedFactor(std::size_t most_lines)
    : stride_(whole(most_lines + lanes)),
      columns_(most_lines * stride_, 0.0),
      pivots_(most_lines),
      factors_(most_lines),
      work_(stride_),
      from_(most_lines) {}

bool BorderedFactor::solve(std::size_t known, std::size_t lines, double* right) {
  // The right side is one more line: what the factor makes of it is the solution of L D.
  for (std::size_t c = 0; c < lines; ++c) {
    double* const column = columns_.data() + c * stride_;
    const std::size_t first = std::max(known, c), low = whole(first), high = whole(lines + lanes);
    column[lines] = right[c];
    std::copy(column + low, column + high, work_.data() + low);
    for (std::size_t k = 0; k < c; ++k) {
      const double* const before = columns_.data() + k * stride_;
      factors_[k] = -before[c] * pivots_[k];
      from_[k] = before + low;
    }
    add_rows_(factors_.data(), from_.data(), c, work_.data() + low, high - low);
    if (c >= known) pivots_[c] = work_[c];
    if (!(std::fabs(pivots_[c]) > 0)) return false;
    const double inverse = 1 / pivots_[c];
    for (std::size_t r = first; r <= lines; ++r) column[r] = work_[r] * inverse;
  }
  for (std::size_t r = lines; r-- > 0;) {
    const double* const column = columns_.data() + r * stride_;
    right[r] = column[lines] - simd().dot_dd(column + r + 1, right + r + 1, lines - r - 1);
  }
  return true;
}

}  // namespace margin
