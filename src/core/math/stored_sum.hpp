// A sum that is stored and added to again: in two numbers, with a bound of what these are off by. Nothing that goes on from it can
// take it for exact.
#pragma once

#include <cmath>

#include "core/math/exact_sum.hpp"
#include "core/math/rounding.hpp"

namespace margin {

class StoredSum {
 public:
  /// Nothing is known of it.
  StoredSum() = default;
  StoredSum(double value, double rest, double error) : value_(value), rest_(rest), error_(error) {}
  /// `size`: Σ abs of its `terms` terms.
  StoredSum(const ExactSum& sum, double terms, double size) : StoredSum(StoredSum(0, 0, 0).plus(sum, terms, size)) {}

  /// With these terms as well.
  StoredSum plus(const ExactSum& sum, double terms, double size) const {
    ExactSum all;
    for (const double part : {value_, rest_, sum.rounded(), sum.lost()}) all.add(part);
    // Neumaier's sums lose (nε)² of their size.
    const double own = (terms + 4) * epsilon;
    StoredSum out;
    out.value_ = all.value();
    const double virtually = out.value_ - all.rounded();
    out.rest_ = (all.rounded() - (out.value_ - virtually)) + (all.lost() - virtually);
    out.error_ = (error_ + own * own * (size + std::fabs(value_))) * (1 + 8 * epsilon);
    return out;
  }

  /// To the nearest double, and what is left.
  double value() const { return value_; }
  double rest() const { return rest_; }
  /// ≥ abs(the sum − value() − rest()); infinite where that is not known.
  double error() const { return error_; }
  bool known() const { return error_ < infinity; }
  /// ≥ abs(the sum − value())
  double off() const { return (std::fabs(rest_) + error_) * (1 + 4 * epsilon); }
  double lower() const { return (value_ - off()) * (1 - (value_ > 0 ? 2 : -2) * epsilon); }
  double upper() const { return (value_ + off()) * (1 + (value_ > 0 ? 2 : -2) * epsilon); }

 private:
  double value_ = 0, rest_ = 0, error_ = infinity;
};

}  // namespace margin
