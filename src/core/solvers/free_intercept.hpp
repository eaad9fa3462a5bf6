// What the solvers of soft margins share where the intercept is free: its best value for given weights, and dual
// weights that it allows.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/math/rounding.hpp"

namespace margin {

/// The derivative of a convex function of one variable: its value, the sum of the sizes of its terms, its slope.
struct SlopeAt {
  double value = 0, size = 0, curvature = 0;
};

/// About the rounding of a sum, as a share of the size of its terms.
constexpr double rounded_balance = 1e-15;

/// Where the derivative `at(t)` (a SlopeAt), which does not fall, crosses 0: Newton's steps inside a bracket. From 0; as
/// near as `accuracy`, a share of the terms' size, or as soon as no other t is better by more than `enough` (0: no such
/// end). `unit`: a first step where the slope knows of none; 0 where it does.
template <class F>
double balanced_shift(F&& at, double unit, double enough, double accuracy = rounded_balance) {
  constexpr int most = 200;
  double low = -infinity, high = infinity, low_value = -infinity, high_value = infinity;
  double t = 0, reach = unit > 0 ? unit : 1, width = infinity;
  for (int k = 0; k < most; ++k) {
    const SlopeAt s = at(t);
    if (!(std::fabs(s.value) > accuracy * s.size)) return t;
    (s.value > 0 ? high : low) = t;
    (s.value > 0 ? high_value : low_value) = s.value;
    double next = s.curvature > 0 && s.curvature < infinity ? t - s.value / s.curvature
                  : s.value > 0                             ? -infinity
                                                            : infinity;
    if (!(high - low < infinity)) {
      // No bracket yet: as far as Newton says, within steps that grow.
      if (unit > 0 || !std::isfinite(next)) next = std::clamp(next, t - reach, t + reach);
      reach *= 8;
      if (!std::isfinite(next)) return t;
      t = next == t ? t + (s.value > 0 ? -reach : reach) : next;
      continue;
    }
    // The minimum lies at most |derivative| × width below either end.
    if (std::min(high_value, -low_value) * (high - low) <= enough) break;
    const double middle = low + 0.5 * (high - low);
    if (!(middle > low && middle < high)) break;
    const bool slow = k % 3 == 2 && high - low > 0.5 * width;
    if (k % 3 == 2) width = high - low;
    t = !slow && next > low && next < high ? next : middle;
  }
  if (!(high - low < infinity)) return t;
  return high_value < -low_value ? high : low;
}

/// What makes Σ cost a of dual weights 0, up to rounding: the side that outweighs the other is scaled down. They stay
/// in the domain of any loss, as that is an interval with 0 inside.
struct Balance {
  double positive = 1, negative = 1;

  /// `above`, `below`: Σ cost |a| of the positive ones and of the negative ones.
  static Balance of(double above, double below) {
    if (above > below) return {below / above, 1};
    if (above < below) return {1, above / below};
    return {};
  }
  double operator()(double a) const { return a > 0 ? positive * a : negative * a; }
};

inline void balance(const std::vector<double>& cost, std::vector<double>& a) {
  double above = 0, below = 0;
  for (std::size_t i = 0; i < a.size(); ++i) (a[i] > 0 ? above : below) += cost[i] * std::fabs(a[i]);
  const Balance share = Balance::of(above, below);
  for (double& v : a) v = share(v);
}

}  // namespace margin
