// Σ c a x of rows, in numbers of twice a double's digits, kept apart by the sign of a.
//
// A product of doubles is a sum of two doubles (Dekker 1971, here by a fused multiply-add), and so is the sum of two
// (Knuth). A product c a x of three is kept to 2 ε² of its size, an addition to as much of the sum so far: n of them err by
// 4 (n + 4) ε² Σ|c a x|, besides what underflows.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/data/row.hpp"
#include "core/math/exact_sum.hpp"

namespace margin {

class TwofoldSums {
 public:
  bool empty() const { return sums_.empty(); }
  std::int64_t terms() const { return terms_; }
  void resize(std::int32_t outputs, std::int32_t columns) {
    columns_ = static_cast<std::size_t>(columns);
    sums_.assign(4 * static_cast<std::size_t>(outputs) * columns_, 0.0);
    lost_.assign(static_cast<std::size_t>(outputs), ExactSum());
  }
  /// Adds (c + less) x, `less` what a double c has lost, to the sums of positive or of negative a.
  void add(std::int32_t output, bool positive, double c, double less, const Row& x) {
    double* const sum = part(output, positive);
    for (std::int32_t k = 0; k < x.count; ++k) {
      const double v = x.value(k), product = c * v;
      double* const at = sum + 2 * static_cast<std::size_t>(x.indices != nullptr ? x.indices[k] : k);
      const double rest = std::fma(c, v, -product) + less * v;
      add(at, product, rest);
    }
    lost_[static_cast<std::size_t>(output)].add(less);
    ++terms_;
  }
  void add(const TwofoldSums& o) {
    for (std::size_t k = 0; k < sums_.size(); k += 2) add(&sums_[k], o.sums_[k], o.sums_[k + 1]);
    for (std::size_t k = 0; k < lost_.size(); ++k) lost_[k].add(o.lost_[k]);
    terms_ += o.terms_ + 1;
  }
  void widen(std::int32_t columns) {
    TwofoldSums wider;
    wider.resize(static_cast<std::int32_t>(lost_.size()), columns);
    const std::size_t parts = 2 * lost_.size();
    for (std::size_t p = 0; p < parts; ++p)
      for (std::size_t k = 0; k < 2 * columns_; ++k)
        wider.sums_[2 * p * wider.columns_ + k] = sums_[2 * p * columns_ + k];
    wider.lost_ = lost_;
    wider.terms_ = terms_;
    *this = std::move(wider);
  }
  /// The sum of a column, as two doubles.
  const double* of(std::int32_t output, bool positive, std::int32_t column) const {
    return &sums_[2 * ((2 * static_cast<std::size_t>(output) + (positive ? 1 : 0)) * columns_ +
                       static_cast<std::size_t>(column))];
  }
  /// Σ of what the coefficients of its rows lost.
  const ExactSum& lost(std::int32_t output) const { return lost_[static_cast<std::size_t>(output)]; }

 private:
  double* part(std::int32_t output, bool positive) {
    return &sums_[2 * (2 * static_cast<std::size_t>(output) + (positive ? 1 : 0)) * columns_];
  }
  static void add(double* at, double v, double rest) {
    const double t = at[0] + v, taken = t - at[0];
    at[1] += ((at[0] - (t - taken)) + (v - taken)) + rest;
    at[0] = t;
  }

  std::size_t columns_ = 0;
  std::vector<double> sums_;  // per output, sign and column
  std::vector<ExactSum> lost_;
  std::int64_t terms_ = 0;
};

}  // namespace margin
