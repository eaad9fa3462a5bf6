// One class: φ(u) = max(0, −u)/ν, φ*(−a) = 0 on a ∈ [0, 1/ν]. What a row of a one-class machine costs beyond the boundary;
// the machine's objective has the intercept besides, so that its dual weights add up to W instead of 0
// (problem/one_class.hpp). No loss of a training with labels, and so in no list of losses.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/loss/loss.hpp"

namespace margin {

class OneClass final : public Loss {
 public:
  explicit OneClass(const Options& options) : nu_(std::max(options.nu, 1e-100)), high_(1 / nu_) {}
  static constexpr std::string_view id = "one_class";
  static constexpr bool classifies = true;
  static constexpr std::array<std::string_view, 1> reads{"nu"};

  double nu() const { return nu_; }
  std::string_view name() const override { return id; }
  bool classification() const override { return classifies; }
  double value(double u, double) const override { return u < 0 ? -u * high_ : 0.0; }
  double derivative(double u, double) const override { return u < 0 ? -high_ : 0.0; }
  double conjugate(double a, double) const override {
    return a >= 0 && a <= high_ ? 0.0 : std::numeric_limits<double>::infinity();
  }
  double project(double a, double) const override { return std::clamp(a, 0.0, high_); }
  double dual_step(double u, double, double a_old, double s) const override {
    if (!(s > 0)) return u < 0 ? high_ : (u > 0 ? 0.0 : a_old);
    return std::clamp(a_old - u / s, 0.0, high_);
  }
  double slack(double u, double, double a) const override { return a <= 0 ? u : (a >= high_ ? -u : -std::fabs(u)); }
  double second_derivative(double, double) const override { return 0; }
  double smoothness() const override { return 0; }
  int kinks() const override { return 1; }
  double lipschitz() const override { return high_; }
  double steepest(double u, double, double error) const override { return u > error ? 0.0 : high_; }

 private:
  double nu_, high_;
};

/// The loss as that of a one-class machine; null where it is another or none.
inline const OneClass* one_class_of(const Loss* loss) { return dynamic_cast<const OneClass*>(loss); }

}  // namespace margin
