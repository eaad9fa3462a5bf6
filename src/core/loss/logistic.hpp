// Logistic: φ(u) = ln(1 + e^(−yu)), φ*(−a) = b ln b + (1−b) ln(1−b) with b = ay ∈ [0, 1].
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/loss/loss.hpp"

namespace margin {

class Logistic final : public Loss {
 public:
  explicit Logistic(const Options&) {}
  static constexpr std::string_view id = "logistic";
  static constexpr bool classifies = true;
  static constexpr bool settles = false;
  static constexpr std::array<std::string_view, 0> reads{};

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
  double dual_step(double u, double y, double a_old, double s) const override { return step(u, y, a_old, s, 1e-4); }
  /// dual_step() for coordinate ascent, to about 1e-6 of a, for two thirds of the logarithms: what is left of the gap is the
  /// square of that, beside what the steps of other rows leave, and less the smaller the steps become.
  double ascent_step(double u, double y, double a_old, double s) const { return step(u, y, a_old, s, 1e-2); }
  double slack(double u, double y, double a) const override {
    const double b = a * y;
    return -std::fabs(std::log1p(-b) - std::log(b) - y * u);
  }
  double second_derivative(double u, double) const override { return sigmoid(u) * sigmoid(-u); }
  double smoothness() const override { return 4; }
  CurvatureForm curvature_form() const override { return CurvatureForm::logistic; }
  double lipschitz() const override { return 1; }
  double self_concordance() const override { return 1; }
  bool has_probability() const override { return true; }

 private:
  static double sigmoid(double t) {
    if (t >= 0) return 1 / (1 + std::exp(-t));
    const double e = std::exp(t);
    return e / (1 + e);
  }

  static double step(double u, double y, double a_old, double s, double enough) {
    // The root of ln((1−b)/b) = m + s(b − b0); of b and 1 − b the smaller one is solved for, which keeps its digits.
    const double m = y * u, b0 = y * a_old;
    if (!(s > 0)) return y * sigmoid(-m);
    return y * (m + s * (0.5 - b0) >= 0 ? root(m, b0, s, enough) : 1 - root(-m, 1 - b0, s, enough));
  }

  /// Halley's step for a decreasing g with g' = −slope and g'' = −bend; Newton's where the parabola misleads.
  static double halley(double g, double slope, double bend) {
    const double square = slope * slope, denominator = square + 0.5 * g * bend;
    return denominator > 0.5 * square ? g * slope / denominator : g / slope;
  }

  /// The root b ≤ 1/2 of g(b) = ln((1−b)/b) − m − s(b − b0). Halley's step in ln b where the logarithm rules, in b
  /// where the quadratic does (either alone crawls or oscillates in the other's region), inside a bracket that shrinks.
  /// The step that is at most the share `enough` of b is the last.
  static double root(double m, double b0, double s, double enough) {
    if (s == std::numeric_limits<double>::infinity()) return b0;
    const double shift = m - s * b0;
    double low = std::max(0.0, b0 - m / s), high = 0.5;
    double b = b0;
    if (!(b > 1e-3 && b < 0.5)) {  // ln b ≤ −shift: the better start where b was not near its new value anyway
      if (shift > 0.7) high = std::exp(-shift);
      if (high == 0) return 0;
      b = s * high > 1 ? std::max(b, std::min(high, 1 / s)) : high;
    }
    if (!(low < high)) return std::min(low, 0.5);
    b = std::clamp(b, low, high);
    if (b <= 0) b = high;
    double width = high - low;
    for (int i = 0; i < 100; ++i) {
      const double g = std::log((1 - b) / b) - m - s * (b - b0);
      if (g > 0)
        low = b;
      else
        high = b;
      const double complement = 1 - b, spread = b * complement;
      double next = 0;
      if (s * spread > 1) {
        const double slope = 1 / spread + s, bend = (1 - 2 * b) / (spread * spread);
        next = b + halley(g, slope, -bend);
      } else {
        const double slope = 1 / complement + s * b, bend = b / (complement * complement) + s * b;
        const double step = halley(g, slope, bend);
        // e^step, to more digits than the step has
        next = b * (std::fabs(step) < 0.01 ? 1 + step * (1 + step / 2 * (1 + step / 3)) : std::exp(step));
      }
      // A step that leaves the bracket, or a bracket that has not halved in four steps: bisect.
      bool bisect = !(next >= low && next <= high);
      if (i % 4 == 3) {
        bisect |= high - low > 0.5 * width && std::fabs(next - b) > 0.25 * (high - low);
        width = high - low;
      }
      if (bisect) next = low > 0 ? std::sqrt(low * high) : 0.5 * high;
      const double moved = std::fabs(next - b);
      b = next;
      // The next step would have the cube of this one's relative error, and the gap squares what is left.
      if ((!bisect && moved <= enough * b) || high - low <= 1e-15 * b || b < 1e-300) break;
    }
    return b;
  }
};

}  // namespace margin
