// Sources: the NIST Digital Library of Mathematical Functions (DLMF), by equation; Lentz's method as in Press, Teukolsky,
// Vetterling, Flannery (2007), Section 5.2. test/unit/distributions_test.cpp holds them against 50 digits.
#include "core/math/distributions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace margin {

namespace {

constexpr double half_log_pi = 0.57236494292470008707;  // ln(π)/2
constexpr double root_half = 0.70710678118654752440;    // 1/√2

/// ln Γ(a + ½) − ln Γ(a): the difference of two logarithms of the Gamma function has no digits for large a.
double log_gamma_half(double a) {
  // Γ(a + ½)/Γ(a) = Γ(a + 3/2)/Γ(a + 1) · a/(a + ½), up to where the series has all digits.
  double lost = 0;
  for (; a < 40; a += 1) lost += std::log1p(-0.5 / (a + 0.5));
  // Its series in 1/a (DLMF 5.11.13 with b = 0), as √a times a polynomial.
  const double r = 1 / a;
  const double series =
      r * (-1.0 / 8 +
           r * (1.0 / 128 +
                r * (5.0 / 1024 +
                     r * (-21.0 / 32768 + r * (-399.0 / 262144 + r * (869.0 / 4194304 + r * (39325.0 / 33554432)))))));
  return 0.5 * std::log(a) + std::log1p(series) + lost;
}

/// The continued fraction of I_x(a, b) (DLMF 8.17.22), which converges fast for x < (a + 1)/(a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr double least = 1e-300;
  const auto guarded = [](double v) { return std::fabs(v) < least ? least : v; };
  double c = 1, d = 1 / guarded(1 - (a + b) * x / (a + 1)), fraction = d;
  for (int m = 1; m < 10000; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / guarded(1 + even * d);
    c = guarded(1 + even / c);
    fraction *= c * d;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / guarded(1 + odd * d);
    c = guarded(1 + odd / c);
    const double change = c * d;
    fraction *= change;
    if (std::fabs(change - 1) < 1e-16) break;
  }
  return fraction;
}

/// ln of the density of Student's distribution.
double log_density(double t, double degrees) {
  return log_gamma_half(0.5 * degrees) - half_log_pi - 0.5 * std::log(degrees) -
         0.5 * (degrees + 1) * std::log1p(t / degrees * t);
}

/// The tail as an integral of the density beside that at t, which falls as e^(−tx − x²/2): by the double exponential rule
/// (Takahasi, Mori 1974). Of many degrees of freedom, where x of the fraction is too near 1 to have the digits of 1 − x.
double tail_by_quadrature(double t, double degrees) {
  constexpr double step = 1.0 / 32;
  double sum = 0;
  for (int k = -160; k <= 160; ++k) {
    const double u = k * step, shrink = std::exp(-u), x = std::exp(u - shrink);
    const double fall = 0.5 * (degrees + 1) * std::log1p((2 * t + x) / (degrees + t * t) * x);
    sum += std::exp(-fall) * x * (1 + shrink);
  }
  return std::exp(log_density(t, degrees)) * sum * step;
}

/// Halves an interval that holds the root of a falling function of x > 0, and takes Newton's step where that stays inside.
template <class Tail, class Density>
double root_of_tail(double p, double start, Tail tail, Density density) {
  double low = 0, high = std::numeric_limits<double>::infinity(), x = start;
  for (int i = 0; i < 400; ++i) {
    const double over = tail(x) - p;
    if (over == 0) return x;
    (over > 0 ? low : high) = x;
    // Newton's method on the logarithm of the tail, which is nearly straight.
    double next = x + tail(x) * std::log((over + p) / p) / density(x);
    if (!(next > low && next < high))
      next = high < std::numeric_limits<double>::infinity() ? 0.5 * (low + high) : 2 * x;
    if (std::fabs(next - x) <= 1e-15 * x) return next;
    x = next;
  }
  return x;
}

}  // namespace

double normal_tail(double z) { return 0.5 * std::erfc(z * root_half); }

double normal_quantile(double p) {
  if (p == 0.5) return 0;
  if (p > 0.5) return -normal_quantile(1 - p);
  return root_of_tail(p, std::sqrt(-2 * std::log(2 * p)) + 1e-8, normal_tail,
                      [](double x) { return std::exp(-0.5 * x * x - half_log_pi) * root_half; });
}

double student_tail(double t, double degrees) {
  if (t == 0) return 0.5;
  if (t < 0) return 1 - student_tail(-t, degrees);
  if (degrees > 1000) return tail_by_quadrature(t, degrees);
  // ½ I_x(ν/2, ½) at x = ν/(ν + t²), or its complement, whichever fraction converges (DLMF 8.17.4).
  const double a = 0.5 * degrees, square = t / degrees * t;
  const double log_x = -std::log1p(square), x = 1 / (1 + square), y = square / (1 + square);
  // x^a y^½ / B(a, ½)
  const double front = std::exp(a * log_x + log_gamma_half(a) - half_log_pi) * std::sqrt(y);
  if (x < (a + 1) / (a + 2.5)) return 0.5 * front * beta_fraction(a, 0.5, x) / a;
  return 0.5 - front * beta_fraction(0.5, a, y);
}

double student_quantile(double p, double degrees) {
  if (p == 0.5) return 0;
  if (p > 0.5) return -student_quantile(1 - p, degrees);
  return root_of_tail(
      p, normal_quantile(p), [&](double x) { return student_tail(x, degrees); },
      [&](double x) { return std::exp(log_density(x, degrees)); });
}

}  // namespace margin
