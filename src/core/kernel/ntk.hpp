// The tangent kernel of a two-layer ReLU network of infinite width, Σ_k a_k relu(<u_k, x>)/√m with a_k = ±1 and
// standard normal u_k, as m → ∞: with θ the angle between x and x',
//
//   k(x, x') = [ <x, x'> (π − θ) + ‖x‖‖x'‖ (sin θ + (π − θ) cos θ) ] / 2π,
//
// the sum of <x, x'> times the arc-cosine kernel of order 0 and of the arc-cosine kernel of order 1 (Cho, Saul 2009).
// k(x, x) = ‖x‖².
#pragma once

#include <algorithm>

#include "core/kernel/linear.hpp"

namespace margin {

class NtkKernel final : public KernelFunction {
 public:
  static constexpr std::string_view id = "ntk";
  static constexpr std::string_view formula =
      "[<x, x'> (pi - theta) + |x||x'| (sin theta + (pi - theta) cos theta)] / 2pi, theta the angle "
      "between x and x': the tangent kernel of a two-layer ReLU network of infinite width";
  static constexpr std::array<std::string_view, 0> reads{};
  std::string_view name() const override { return id; }
  const KernelParameters& parameters() const override { return parameters_; }
  double diagonal(const double* summary) const override { return summary[0]; }
  double operations() const override { return 64; }

  void evaluate(const double* own, const double* others, std::size_t n, double terms, double* values,
                double* errors) const override {
    constexpr double pi = 3.141592653589793;
    const double off = 2.4e-16 * (terms + 8);  // of a cosine
    for (std::size_t k = 0; k < n; ++k) {
      const double norms = std::sqrt(own[0]) * std::sqrt(others[k]);
      const double cosine = norms > 0 ? std::clamp(values[k] / norms, -1.0, 1.0) : 1.0;
      const double sine = std::sqrt((1 - cosine) * (1 + cosine)), rest = pi - std::acos(cosine);
      values[k] = norms * (2 * cosine * rest + sine) / (2 * pi);
      if (errors == nullptr) continue;
      // The derivative by the cosine is (2 (π − θ) + cos θ / sin θ ...)/2π ≤ 1 + 1/(π sin θ); where the sine is
      // itself in doubt, the angle is off by at most the one whose cosine is 1 − 4·off.
      const double turned = sine * sine > 16 * off ? off / sine * 1.5 : 3.5 * std::sqrt(off);
      errors[k] = norms * (turned / pi + 2 * off) + (terms + 8) * tiny;
    }
  }

 private:
  KernelParameters parameters_;
};

}  // namespace margin
