// ε-insensitive: φ(u) = max(0, |u − y| − ε), φ*(−a) = −ay + ε|a| on a ∈ [−1, 1]. Support vector regression.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/loss/loss.hpp"
#include "core/loss/soft_threshold.hpp"

namespace margin {

class EpsilonInsensitive final : public Loss {
 public:
  explicit EpsilonInsensitive(const Options& options) : epsilon_(options.epsilon) {}
  static constexpr std::string_view id = "epsilon_insensitive";
  static constexpr bool classifies = false;
  static constexpr bool settles = true;
  static constexpr std::array<std::string_view, 1> reads{"epsilon"};

  std::string_view name() const override { return id; }
  bool classification() const override { return classifies; }
  double value(double u, double y) const override { return std::max(0.0, std::fabs(u - y) - epsilon_); }
  double derivative(double u, double y) const override {
    return u - y > epsilon_ ? 1.0 : (y - u > epsilon_ ? -1.0 : 0.0);
  }
  double conjugate(double a, double y) const override {
    return std::fabs(a) <= 1 ? -a * y + epsilon_ * std::fabs(a) : std::numeric_limits<double>::infinity();
  }
  double project(double a, double) const override { return std::clamp(a, -1.0, 1.0); }
  double dual_step(double u, double y, double a_old, double s) const override {
    const double r = y - u;
    if (!(s > 0)) {
      if (std::fabs(r) == epsilon_) return r > 0 ? std::max(a_old, 0.0) : std::min(a_old, 0.0);
      return r > epsilon_ ? 1.0 : (r < -epsilon_ ? -1.0 : 0.0);
    }
    return std::clamp(soft_threshold_step(r, a_old, s, 0, epsilon_), -1.0, 1.0);
  }
  double slack(double u, double y, double a) const override {
    const double r = y - u;
    if (a == 0) return epsilon_ - std::fabs(r);
    const double over = (a > 0 ? r : -r) - epsilon_;
    return std::fabs(a) >= 1 ? over : -std::fabs(over);
  }
  double second_derivative(double, double) const override { return 0; }
  double smoothness() const override { return 0; }
  int kinks() const override { return 2; }
  double lipschitz() const override { return 1; }

 private:
  double epsilon_;
};

}  // namespace margin
