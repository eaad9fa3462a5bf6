// Quantile, or pinball: φ(u) = max(τ(y − u), (τ − 1)(y − u)), φ*(−a) = −ay on a ∈ [τ − 1, τ]. Quantile regression.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/loss/loss.hpp"
#include "core/loss/soft_threshold.hpp"

namespace margin {

class Quantile final : public Loss {
 public:
  explicit Quantile(const Options& options) : high_(options.quantile), low_(options.quantile - 1) {}
  static constexpr std::string_view id = "quantile";
  static constexpr bool classifies = false;
  static constexpr bool settles = true;
  static constexpr std::array<std::string_view, 1> reads{"quantile"};

  std::string_view name() const override { return id; }
  bool classification() const override { return classifies; }
  double value(double u, double y) const override { return y > u ? high_ * (y - u) : low_ * (y - u); }
  double derivative(double u, double y) const override { return u > y ? -low_ : (u < y ? -high_ : 0.0); }
  double conjugate(double a, double y) const override {
    return a >= low_ && a <= high_ ? -a * y : std::numeric_limits<double>::infinity();
  }
  double project(double a, double) const override { return std::clamp(a, low_, high_); }
  double dual_step(double u, double y, double a_old, double s) const override {
    const double r = y - u;
    if (!(s > 0)) return r > 0 ? high_ : (r < 0 ? low_ : a_old);
    return std::clamp(soft_threshold_step(r, a_old, s, 0, 0), low_, high_);
  }
  double slack(double u, double y, double a) const override {
    const double r = y - u;
    return a >= high_ ? r : (a <= low_ ? -r : -std::fabs(r));
  }
  double second_derivative(double, double) const override { return 0; }
  double smoothness() const override { return 0; }
  int kinks() const override { return 1; }
  double lipschitz() const override { return std::max(high_, -low_); }

 private:
  double high_, low_;
};

}  // namespace margin
