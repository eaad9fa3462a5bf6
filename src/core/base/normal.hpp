// Standard normal numbers from a seed, by arithmetic alone: the library's logarithm and cosine may differ in their last
// digit from one processor to the next, and models and random features must not.
#pragma once

#include <cmath>

#include "core/base/random.hpp"

namespace margin {

/// cos(2π t) for |t| ≤ 2^30, to a few units of 1e-16.
inline double cosine_of_turns(double t) {
  // cos(2π t) = 1 − 2 sin²(π r), r = t − round(t): |π r| ≤ π/2, halved once more below.
  const double r = t - std::nearbyint(t);
  const double a = 1.5707963267948966 * r, q = a * a;  // half of π r
  double s = 1.0 / 6227020800.0;
  s = s * q - 1.0 / 39916800.0;
  s = s * q + 1.0 / 362880.0;
  s = s * q - 1.0 / 5040.0;
  s = s * q + 1.0 / 120.0;
  s = s * q - 1.0 / 6.0;
  s = (s * q + 1.0) * a;                          // sin(π r / 2)
  const double square = 4 * s * s * (1 - s * s);  // sin²(π r)
  return 1 - 2 * square;
}

/// ln u for 0 < u ≤ 1.
inline double natural_log(double u) {
  int exponent = 0;
  double f = std::frexp(u, &exponent);
  if (f < 0.7071067811865476) {
    f *= 2;
    --exponent;
  }
  const double z = (f - 1) / (f + 1), q = z * z;  // ln f = 2 artanh z, |z| ≤ 0.172
  double s = 1.0 / 19;
  for (int k = 17; k >= 1; k -= 2) s = s * q + 1.0 / k;
  return 2 * z * s + exponent * 0.6931471805599453;
}

/// A sequence of independent standard normal numbers (Box, Muller 1958).
class Normal {
 public:
  explicit Normal(std::uint64_t seed) : random_(seed) {}
  double next() {
    if (spare_) {
      spare_ = false;
      return radius_ * cosine_of_turns(turn_ - 0.25);
    }
    radius_ = std::sqrt(-2 * natural_log(1 - random_.uniform()));
    turn_ = random_.uniform();
    spare_ = true;
    return radius_ * cosine_of_turns(turn_);
  }

 private:
  Random random_;
  double radius_ = 0, turn_ = 0;
  bool spare_ = false;
};

}  // namespace margin
