// Sums that do not depend on the order of their terms: the same bits whatever order rows come in. Demmel and Nguyen
// (2013): a term is cut into two parts on grids that all terms share, so coarse that sums of the parts are exact.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace margin {

/// The cuts for `terms` terms of at most `largest` in size. What they leave out of a term is below
/// 2⁻¹⁰⁰ · terms² · largest. Beyond 1e300 the sums are plain ones.
struct OrderFreeCuts {
  OrderFreeCuts() = default;
  OrderFreeCuts(double largest, std::int64_t terms) {
    if (!(largest > 0 && largest < 1e300)) return;
    int count = 0, size = 0;
    std::frexp(static_cast<double>(terms), &count);
    std::frexp(largest, &size);
    // 1.5 · 2^k: a sum with a term of either sign stays in one binade.
    coarse = std::ldexp(1.5, std::min(1022, size + count + 1));
    fine = std::ldexp(1.5, std::max(-1021, size + count + 1 - 52 + count + 1));
  }
  double coarse = 0, fine = 0;
};

/// One such sum.
class OrderFreeSum {
 public:
  void add(double term, const OrderFreeCuts& cuts) {
    const double high = (term + cuts.coarse) - cuts.coarse;
    high_ += high;
    low_ += ((term - high) + cuts.fine) - cuts.fine;
  }
  double value() const { return high_ + low_; }

 private:
  double high_ = 0, low_ = 0;
};

/// Such sums of many numbers side by side.
class OrderFreeSums {
 public:
  explicit OrderFreeSums(std::size_t n) : coarse_(n), fine_(n), high_(n), low_(n) {}

  /// Sum j is 0.
  void start(std::size_t j, const OrderFreeCuts& cuts) {
    coarse_[j] = cuts.coarse;
    fine_[j] = cuts.fine;
    high_[j] = low_[j] = 0;
  }
  /// Sum j gets the term f(j), for all j.
  template <class F>
  void add(F f) {
    const double *coarse = coarse_.data(), *fine = fine_.data();
    double *high = high_.data(), *low = low_.data();
    const std::size_t n = high_.size();
#pragma omp simd
    for (std::size_t j = 0; j < n; ++j) {
      const double term = f(j);
      const double top = (term + coarse[j]) - coarse[j];
      high[j] += top;
      low[j] += ((term - top) + fine[j]) - fine[j];
    }
  }
  double value(std::size_t j) const { return high_[j] + low_[j]; }

 private:
  std::vector<double> coarse_, fine_, high_, low_;
};

}  // namespace margin
