// Smoothed hinge: φ(u) = 0 for yu ≥ 1, (1−yu)²/(2γ) for 1−γ ≤ yu ≤ 1, 1−yu−γ/2 below; φ*(−a) = −ay + γa²/2 on
// ay ∈ [0, 1]. Shalev-Shwartz & Zhang (2013), Section 2: (1/γ)-smooth, and never more than γ/2 from the hinge.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/loss/loss.hpp"

namespace margin {

class SmoothedHinge final : public Loss {
 public:
  explicit SmoothedHinge(const Options& options) : gamma_(options.smoothing) {}
  static constexpr std::string_view id = "smoothed_hinge";
  static constexpr bool classifies = true;
  static constexpr bool settles = true;
  static constexpr std::array<std::string_view, 1> reads{"smoothing"};

  std::string_view name() const override { return id; }
  bool classification() const override { return classifies; }
  double value(double u, double y) const override {
    const double r = 1 - y * u;
    if (r <= 0) return 0;
    return r < gamma_ ? r * r / (2 * gamma_) : r - gamma_ / 2;
  }
  double derivative(double u, double y) const override { return -y * std::clamp((1 - y * u) / gamma_, 0.0, 1.0); }
  double conjugate(double a, double y) const override {
    const double b = a * y;
    return b >= 0 && b <= 1 ? -b + gamma_ * b * b / 2 : std::numeric_limits<double>::infinity();
  }
  double project(double a, double y) const override { return y * std::clamp(a * y, 0.0, 1.0); }
  double dual_step(double u, double y, double a_old, double s) const override {
    const double b = a_old * y;
    return y * std::clamp(b + (1 - y * u - gamma_ * b) / (s + gamma_), 0.0, 1.0);
  }
  double slack(double u, double y, double a) const override {
    const double r = 1 - y * u, b = a * y;
    return b <= 0 ? -r : (b >= 1 ? r - gamma_ : -std::fabs(r - gamma_ * b));
  }
  double second_derivative(double u, double y) const override {
    const double r = 1 - y * u;
    return r > 0 && r < gamma_ ? 1 / gamma_ : 0.0;
  }
  double smoothness() const override { return gamma_; }
  CurvatureForm curvature_form() const override { return CurvatureForm::two_bends; }
  double lipschitz() const override { return 1; }

 private:
  double gamma_;
};

}  // namespace margin
