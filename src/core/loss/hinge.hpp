// Hinge: φ(u) = max(0, 1 − yu), φ*(−a) = −ay on ay ∈ [0, 1]. The support vector machine.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/loss/loss.hpp"

namespace margin {

class Hinge final : public Loss {
 public:
  explicit Hinge(const Options&) {}
  static constexpr std::string_view id = "hinge";
  static constexpr bool classifies = true;
  static constexpr bool settles = true;
  static constexpr std::array<std::string_view, 0> reads{};

  std::string_view name() const override { return id; }
  bool classification() const override { return classifies; }
  double value(double u, double y) const override { return std::max(0.0, 1 - y * u); }
  double derivative(double u, double y) const override { return y * u < 1 ? -y : 0.0; }
  double conjugate(double a, double y) const override {
    const double b = a * y;
    return b >= 0 && b <= 1 ? -b : std::numeric_limits<double>::infinity();
  }
  double project(double a, double y) const override { return y * std::clamp(a * y, 0.0, 1.0); }
  double dual_step(double u, double y, double a_old, double s) const override {
    const double slack = 1 - y * u, b = a_old * y;
    // s = 0 (a row of zeros): the objective is linear in a, its sign decides.
    if (!(s > 0)) return slack > 0 ? y : (slack < 0 ? 0.0 : a_old);
    return y * std::clamp(slack / s + b, 0.0, 1.0);
  }
  double slack(double u, double y, double a) const override {
    const double r = 1 - y * u, b = a * y;
    return b <= 0 ? -r : (b >= 1 ? r : -std::fabs(r));
  }
  double second_derivative(double, double) const override { return 0; }
  double smoothness() const override { return 0; }
  int kinks() const override { return 1; }
  double lipschitz() const override { return 1; }
};

}  // namespace margin
