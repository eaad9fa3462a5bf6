// Logistic: φ(u) = ln(1 + e^(−yu)), φ*(−a) = b ln b + (1−b) ln(1−b) with b = ay ∈ [0, 1].
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "../loss.hpp"

namespace margin {

class Logistic final : public Loss {
 public:
  explicit Logistic(const Settings&) {}
  static constexpr std::string_view id = "logistic";
  static constexpr bool classifies = true;
  static constexpr bool settles = false;

  std::string_view name() const override { return id; }
  bool classification() const override { return classifies; }
  double value(double u, double y) const override {
    const double m = y * u;
    return m > 0 ? std::log1p(std::exp(-m)) : std::log1p(std::exp(m)) - m;
  }
  double derivative(double u, double y) const override { return -y * sigmoid(-y * u); }
  double conjugate(double a, double y) const override {
    const double b = a * y;
    if (!(b >= 0 && b <= 1)) return std::numeric_limits<double>::infinity();
    if (b == 0 || b == 1) return 0;
    return b * std::log(b) + (1 - b) * std::log1p(-b);
  }
  double project(double a, double y) const override { return y * std::clamp(a * y, 0.0, 1.0); }
  double dual_step(double u, double y, double a_old, double s) const override {
    // The root of ln((1−b)/b) = m + s(b − b0); of b and 1 − b the smaller one is solved for, which keeps its digits.
    const double m = y * u, b0 = y * a_old;
    if (!(s > 0)) return y * sigmoid(-m);
    return y * (m + s * (0.5 - b0) >= 0 ? root(m, b0, s) : 1 - root(-m, 1 - b0, s));
  }
  double slack(double u, double y, double a) const override {
    const double b = a * y;
    return -std::fabs(std::log1p(-b) - std::log(b) - y * u);
  }
  double second_derivative(double u, double) const override { return sigmoid(u) * sigmoid(-u); }
  double smoothness() const override { return 4; }
  double lipschitz() const override { return 1; }
  bool has_probability() const override { return true; }

 private:
  static double sigmoid(double t) {
    if (t >= 0) return 1 / (1 + std::exp(-t));
    const double e = std::exp(t);
    return e / (1 + e);
  }

  /// The root b ≤ 1/2 of g(b) = ln((1−b)/b) − m − s(b − b0). Newton in ln b where the logarithm rules, in b where
  /// the quadratic does (either alone crawls or oscillates in the other's region), inside a bracket that shrinks.
  static double root(double m, double b0, double s) {
    if (s == std::numeric_limits<double>::infinity()) return b0;
    const double shift = m - s * b0;
    double low = std::max(0.0, b0 - m / s);
    double high = shift > 0.7 ? std::min(0.5, std::exp(-shift)) : 0.5;
    if (high == 0) return 0;
    if (!(low < high)) return std::min(low, 0.5);
    double b = std::clamp(b0, low, high);
    if (b <= 0) b = s * high > 1 ? std::min(high, 1 / s) : high;
    double width = high - low;
    for (int i = 0; i < 100; ++i) {
      const double g = std::log1p(-b) - std::log(b) - m - s * (b - b0);
      if (g > 0)
        low = b;
      else
        high = b;
      const double curvature = s * b * (1 - b);
      double next = curvature > 1 ? b + g * b * (1 - b) / (1 + curvature) : b * std::exp(g * (1 - b) / (1 + curvature));
      // A step that leaves the bracket, or a bracket that has not halved in four steps: bisect.
      bool bisect = !(next >= low && next <= high);
      if (i % 4 == 3) {
        bisect |= high - low > 0.5 * width && std::fabs(next - b) > 0.25 * (high - low);
        width = high - low;
      }
      if (bisect) next = low > 0 ? std::sqrt(low * high) : 0.5 * high;
      const double moved = std::fabs(next - b);
      b = next;
      if (moved <= 1e-9 * b || b < 1e-300) break;
    }
    return b;
  }
};

}  // namespace margin
