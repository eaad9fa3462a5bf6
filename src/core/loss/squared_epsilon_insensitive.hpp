// Squared ε-insensitive: φ(u) = max(0, |u − y| − ε)², φ*(−a) = −ay + ε|a| + a²/4. LIBLINEAR -s 11 and 12.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/loss/loss.hpp"
#include "core/loss/soft_threshold.hpp"

namespace margin {

class SquaredEpsilonInsensitive final : public Loss {
 public:
  explicit SquaredEpsilonInsensitive(const Options& options) : epsilon_(options.epsilon) {}
  static constexpr std::string_view id = "squared_epsilon_insensitive";
  static constexpr bool classifies = false;
  static constexpr bool settles = true;
  static constexpr std::array<std::string_view, 1> reads{"epsilon"};

  std::string_view name() const override { return id; }
  bool classification() const override { return classifies; }
  double value(double u, double y) const override {
    const double r = std::max(0.0, std::fabs(u - y) - epsilon_);
    return r * r;
  }
  double derivative(double u, double y) const override {
    const double r = u - y;
    return r > epsilon_ ? 2 * (r - epsilon_) : (r < -epsilon_ ? 2 * (r + epsilon_) : 0.0);
  }
  double conjugate(double a, double y) const override { return -a * y + epsilon_ * std::fabs(a) + a * a / 4; }
  double project(double a, double) const override { return a; }
  double dual_step(double u, double y, double a_old, double s) const override {
    return soft_threshold_step(y - u, a_old, s, 0.5, epsilon_);
  }
  double slack(double u, double y, double a) const override {
    const double r = y - u;
    if (a == 0) return epsilon_ - std::fabs(r);
    return -std::fabs((a > 0 ? r : -r) - epsilon_ - std::fabs(a) / 2);
  }
  double second_derivative(double u, double y) const override { return std::fabs(u - y) > epsilon_ ? 2.0 : 0.0; }
  double smoothness() const override { return 0.5; }
  double lipschitz() const override { return std::numeric_limits<double>::infinity(); }

 private:
  double epsilon_;
};

}  // namespace margin
