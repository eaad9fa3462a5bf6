// The sums of a risk's check over many rows of one output, all at once.
#pragma once

#include <cstring>

#include "core/math/exact_sum.hpp"

namespace margin {

/// Six sums that carry their rounding error, and eight plain ones, in two numbers at a time: each has its own lane.
/// Knuth's two-sum has no choice to make, and finds the error of a sum exactly, and so the number that ExactSum finds.
struct SideBySide {
  static constexpr std::size_t carried = 6, others = 8, terms = carried + others;
  double sum[carried] = {}, lost[carried] = {}, plain[others] = {};

  void set_exact(std::size_t k, const ExactSum& s) {
    sum[k] = s.rounded();
    lost[k] = s.lost();
  }
  ExactSum exact(std::size_t k) const { return ExactSum::of(sum[k], lost[k]); }
  /// n rows of `terms` numbers.
  void add(const double* row, std::size_t n) {
    typedef double Lanes __attribute__((vector_size(16)));
    Lanes s[carried / 2], l[carried / 2], p[others / 2], v;
    std::memcpy(s, sum, sizeof s);
    std::memcpy(l, lost, sizeof l);
    std::memcpy(p, plain, sizeof p);
    for (; n > 0; --n, row += terms) {
#pragma GCC unroll 4
      for (std::size_t k = 0; k < carried / 2; ++k) {
        std::memcpy(&v, row + 2 * k, sizeof v);
        const Lanes t = s[k] + v, taken = t - s[k];
        l[k] += (s[k] - (t - taken)) + (v - taken);
        s[k] = t;
      }
#pragma GCC unroll 4
      for (std::size_t k = 0; k < others / 2; ++k) {
        std::memcpy(&v, row + carried + 2 * k, sizeof v);
        p[k] += v;
      }
    }
    std::memcpy(sum, s, sizeof s);
    std::memcpy(lost, l, sizeof l);
    std::memcpy(plain, p, sizeof p);
  }
};

}  // namespace margin
