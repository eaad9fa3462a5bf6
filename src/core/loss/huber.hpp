// Huber: φ(u) = r²/(2γ) for r = |u − y| ≤ γ, r − γ/2 beyond; φ*(−a) = −ay + γa²/2 on a ∈ [−1, 1]: the absolute
// error smoothed as the smoothed hinge smooths the hinge (the same γ, option smoothing).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/loss/loss.hpp"

namespace margin {

class Huber final : public Loss {
 public:
  explicit Huber(const Options& options) : gamma_(options.smoothing) {}
  static constexpr std::string_view id = "huber";
  static constexpr bool classifies = false;
  static constexpr bool settles = true;
  static constexpr std::array<std::string_view, 1> reads{"smoothing"};

  std::string_view name() const override { return id; }
  bool classification() const override { return classifies; }
  double value(double u, double y) const override {
    const double r = std::fabs(u - y);
    return r < gamma_ ? r * r / (2 * gamma_) : r - gamma_ / 2;
  }
  double derivative(double u, double y) const override { return std::clamp((u - y) / gamma_, -1.0, 1.0); }
  double conjugate(double a, double y) const override {
    return std::fabs(a) <= 1 ? -a * y + gamma_ * a * a / 2 : std::numeric_limits<double>::infinity();
  }
  double project(double a, double) const override { return std::clamp(a, -1.0, 1.0); }
  double dual_step(double u, double y, double a_old, double s) const override {
    return std::clamp(a_old + (y - u - gamma_ * a_old) / (s + gamma_), -1.0, 1.0);
  }
  double slack(double u, double y, double a) const override {
    const double r = y - u;
    return a >= 1 ? r - gamma_ : (a <= -1 ? -r - gamma_ : -std::fabs(r - gamma_ * a));
  }
  double second_derivative(double u, double y) const override { return std::fabs(u - y) < gamma_ ? 1 / gamma_ : 0.0; }
  double smoothness() const override { return gamma_; }
  CurvatureForm curvature_form() const override { return CurvatureForm::two_bends; }
  double lipschitz() const override { return 1; }

 private:
  double gamma_;
};

}  // namespace margin
