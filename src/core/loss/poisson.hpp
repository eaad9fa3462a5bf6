// Poisson with log link: φ(u) = e^u − y − y (u − ln y), half the deviance of a mean of e^u for a count y ≥ 0;
// φ*(−a) = (b ln b − b) − (y ln y − y) with b = y − a ≥ 0, the mean that a stands for. It differs from e^u − yu by what no
// u changes, and is 0 where the mean is the count. Neither its slope nor its curvature is bounded.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/loss/loss.hpp"

namespace margin {

class Poisson final : public Loss {
 public:
  explicit Poisson(const Options&) {}
  static constexpr std::string_view id = "poisson";
  static constexpr bool classifies = false;
  static constexpr bool settles = false;
  static constexpr std::array<std::string_view, 0> reads{};

  std::string_view name() const override { return id; }
  bool classification() const override { return classifies; }
  bool smooth() const override { return true; }
  bool log_link() const override { return true; }
  /// +∞ where the mean leaves the range of double.
  double value(double u, double y) const override {
    if (!(y > 0)) return std::exp(u);
    const double r = u - std::log(y);
    if (std::fabs(r) <= 0.5) return y * excess(r);
    return r < 2 ? y * (std::expm1(r) - r) : std::exp(u) - y - y * r;
  }
  double derivative(double u, double y) const override { return mean(u) - y; }
  double conjugate(double a, double y) const override {
    const double b = y - a;
    if (!(b >= 0)) return std::numeric_limits<double>::infinity();
    if (a == 0) return 0;
    if (near(a, y)) return y * ((b / y) * std::log1p(-a / y) + a / y) - a * std::log(y);
    return entropy(b) - entropy(y);
  }
  double project(double a, double y) const override { return std::min(a, y); }
  double dual_step(double u, double y, double a_old, double s) const override {
    // The root of ln b + s (b − b_old) = u: with z = s b that is z + ln z = x.
    if (s == std::numeric_limits<double>::infinity()) return a_old;
    if (!(s > 0)) return y - mean(u);
    const double m = u + s * (y - a_old), z = omega(m + std::log(s));
    if (z < 1) return y - mean(m - z);
    const double b = z / s;
    if (!(b < largest_mean)) return y - largest_mean;
    return std::min(y, a_old - (u - std::log(b)) / s);
  }
  double slack(double u, double y, double a) const override { return -std::fabs(std::log(y - a) - u); }
  double second_derivative(double u, double) const override { return mean(u); }
  double smoothness() const override { return 0; }
  CurvatureForm curvature_form() const override { return CurvatureForm::rising; }
  double lipschitz() const override { return std::numeric_limits<double>::infinity(); }
  double self_concordance() const override { return 1; }
  double steepest(double u, double y, double error) const override {
    const double e = std::exp(u);
    return std::fabs(e - y) + e * (std::expm1(error) + 8 * std::numeric_limits<double>::epsilon());
  }
  double argument_size(double u, double y) const override {
    return std::fabs(u) + (y > 0 ? std::fabs(std::log(y)) : 0.0);
  }
  double conjugate_size(double a, double y, double) const override {
    if (near(a, y)) return std::fabs(a) * (3 + std::fabs(std::log(y)));
    const double b = y - a;
    return std::fabs(entropy(b)) + 2 * b + std::fabs(entropy(y)) + 2 * y;
  }

 private:
  static constexpr double largest_score = 690, largest_mean = 1e299;

  /// e^u, but finite: solvers step to where it would not be, and back.
  static double mean(double u) { return std::exp(std::min(u, largest_score)); }
  static bool near(double a, double y) { return y > 0 && 2 * std::fabs(a) <= y; }
  static double entropy(double b) { return b > 0 ? b * std::log(b) - b : 0.0; }

  /// e^r − 1 − r, with all digits where r is small.
  static double excess(double r) {
    double sum = 0;
    for (int k = 16; k > 2; --k) sum = r / k * (1 + sum);
    return 0.5 * r * r * (1 + sum);
  }

  /// The z > 0 with z + ln z = x (Wright's function), by the iteration of Fritsch, Shafer, Crowley (1973), CACM 16.
  static double omega(double x) {
    if (x < -700) return std::exp(x);
    double z = x < -2 ? std::exp(x) : x < 4 ? 1 + (x - 1) / 2 + (x - 1) * (x - 1) / 16 : x - std::log(x);
    for (int i = 0; i < 8; ++i) {
      const double r = x - z - std::log(z), q = (1 + z) * (1 + z + r * (2.0 / 3));
      z *= 1 + r / (1 + z) * ((q - r / 2) / (q - r));
      if (std::fabs(r) <= 1e-6 * (1 + z)) break;
    }
    return z;
  }
};

}  // namespace margin
