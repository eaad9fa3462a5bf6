// Absolute error: φ(u) = |u − y|, φ*(−a) = −ay on a ∈ [−1, 1]. Median regression.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/loss/loss.hpp"
#include "core/loss/soft_threshold.hpp"

namespace margin {

class Absolute final : public Loss {
 public:
  explicit Absolute(const Options&) {}
  static constexpr std::string_view id = "absolute";
  static constexpr bool classifies = false;
  static constexpr bool settles = true;
  static constexpr std::array<std::string_view, 0> reads{};

  std::string_view name() const override { return id; }
  bool classification() const override { return classifies; }
  double value(double u, double y) const override { return std::fabs(u - y); }
  double derivative(double u, double y) const override { return u > y ? 1.0 : (u < y ? -1.0 : 0.0); }
  double conjugate(double a, double y) const override {
    return std::fabs(a) <= 1 ? -a * y : std::numeric_limits<double>::infinity();
  }
  double project(double a, double) const override { return std::clamp(a, -1.0, 1.0); }
  double dual_step(double u, double y, double a_old, double s) const override {
    const double r = y - u;
    if (!(s > 0)) return r > 0 ? 1.0 : (r < 0 ? -1.0 : a_old);
    return std::clamp(soft_threshold_step(r, a_old, s, 0, 0), -1.0, 1.0);
  }
  double slack(double u, double y, double a) const override {
    const double r = y - u;
    return a >= 1 ? r : (a <= -1 ? -r : -std::fabs(r));
  }
  double second_derivative(double, double) const override { return 0; }
  double smoothness() const override { return 0; }
  int kinks() const override { return 1; }
  double lipschitz() const override { return 1; }
};

}  // namespace margin
