// Squared error: φ(u) = (u − y)², φ*(−a) = −ay + a²/4. Ridge regression.
#pragma once

#include <cmath>
#include <limits>

#include "core/loss/loss.hpp"

namespace margin {

class Squared final : public Loss {
 public:
  explicit Squared(const Options&) {}
  static constexpr std::string_view id = "squared";
  static constexpr bool classifies = false;
  static constexpr bool settles = false;
  static constexpr std::array<std::string_view, 0> reads{};

  std::string_view name() const override { return id; }
  bool classification() const override { return classifies; }
  double value(double u, double y) const override { return (u - y) * (u - y); }
  double derivative(double u, double y) const override { return 2 * (u - y); }
  double conjugate(double a, double y) const override { return a * (a / 4 - y); }
  double project(double a, double) const override { return a; }
  double dual_step(double u, double y, double a_old, double s) const override {
    return a_old + (y - u - a_old / 2) / (s + 0.5);
  }
  double slack(double u, double y, double a) const override { return -std::fabs(y - u - a / 2); }
  double second_derivative(double, double) const override { return 2; }
  double smoothness() const override { return 0.5; }
  double self_concordance() const override { return 0; }
  CurvatureForm curvature_form() const override { return CurvatureForm::constant; }
  double lipschitz() const override { return std::numeric_limits<double>::infinity(); }
};

}  // namespace margin
