// The scalar problem that the absolute and the insensitive losses share.
#pragma once

namespace margin {

/// argmax over a of a·r − ε|a| − (q/2)a² − (s/2)(a − a_old)², r = y − u + (a_old·u is constant); q + s > 0.
/// Written so that neither s → 0 nor s → ∞ turns into 0/0 or ∞/∞.
inline double soft_threshold_step(double r, double a_old, double s, double q, double epsilon) {
  if (s <= 1) {
    const double t = r + s * a_old;
    return (t > epsilon ? t - epsilon : (t < -epsilon ? t + epsilon : 0.0)) / (s + q);
  }
  const double t = r / s + a_old, e = epsilon / s;
  return (t > e ? t - e : (t < -e ? t + e : 0.0)) / (1 + q / s);
}

}  // namespace margin
