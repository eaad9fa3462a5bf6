// Squared hinge: φ(u) = max(0, 1 − yu)², φ*(−a) = −ay + a²/4 on ay ≥ 0. LIBLINEAR's L2 loss.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/loss/loss.hpp"

namespace margin {

class SquaredHinge final : public Loss {
 public:
  explicit SquaredHinge(const Options&) {}
  static constexpr std::string_view id = "squared_hinge";
  static constexpr bool classifies = true;
  static constexpr bool settles = true;
  static constexpr std::array<std::string_view, 0> reads{};

  std::string_view name() const override { return id; }
  bool classification() const override { return classifies; }
  double value(double u, double y) const override {
    const double r = std::max(0.0, 1 - y * u);
    return r * r;
  }
  double derivative(double u, double y) const override { return -2 * y * std::max(0.0, 1 - y * u); }
  double conjugate(double a, double y) const override {
    const double b = a * y;
    return b >= 0 ? -b + b * b / 4 : std::numeric_limits<double>::infinity();
  }
  double project(double a, double y) const override { return y * std::max(0.0, a * y); }
  double dual_step(double u, double y, double a_old, double s) const override {
    const double b = a_old * y;
    return y * std::max(0.0, b + (1 - y * u - b / 2) / (s + 0.5));
  }
  double slack(double u, double y, double a) const override {
    const double r = 1 - y * u, b = a * y;
    return b <= 0 ? -r : -std::fabs(r - b / 2);
  }
  double second_derivative(double u, double y) const override { return y * u < 1 ? 2.0 : 0.0; }
  double smoothness() const override { return 0.5; }
  CurvatureForm curvature_form() const override { return CurvatureForm::one_bend; }
  double lipschitz() const override { return std::numeric_limits<double>::infinity(); }
};

}  // namespace margin
