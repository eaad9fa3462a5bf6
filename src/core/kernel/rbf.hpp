// The Gaussian kernel, k(x, x') = exp(−γ ‖x − x'‖²).
#pragma once

#include <algorithm>
#include <cmath>

#include "core/kernel/linear.hpp"

namespace margin {

class RbfKernel final : public KernelFunction {
 public:
  static constexpr std::string_view id = "rbf";
  static constexpr std::string_view formula = "exp(-gamma |x - x'|^2)";
  static constexpr std::array<std::string_view, 1> reads{"gamma"};
  explicit RbfKernel(const KernelParameters& p) { parameters_.gamma = p.gamma; }
  std::string_view name() const override { return id; }
  const KernelParameters& parameters() const override { return parameters_; }
  double diagonal(const double*) const override { return 1; }

  /// ‖x‖² + ‖x'‖² − 2<x, x'> loses the digits that both rows share: rows near 10⁸ that differ by 1 have none left.
  bool prefers_distance(double own, double other) const override {
    return parameters_.gamma * (own + other) > cancelled;
  }
  void from_distance(double distance, double terms, double& value, double* error) const override {
    value = std::exp(-parameters_.gamma * distance);
    // The differences, their squares and the sum err by (terms + 4) ulps of the distance, but for what vanishes.
    const double exponent = parameters_.gamma * (2.4e-16 * (terms + 8) * distance + terms * tiny);
    if (error == nullptr) return;
    *error = exponent < 1 ? value * (2.8 * exponent + 1e-15) + 1e-300
                          : std::min(1.0, std::exp(exponent - parameters_.gamma * distance) * (1 + 1e-15) + 1e-300);
  }

  void evaluate(const double* own, const double* others, std::size_t n, double terms, double* values,
                double* errors) const override {
    const double gamma = parameters_.gamma, square = own[0];
    if (errors == nullptr) {
      simd().rbf(gamma, square, others, n, values);
      return;
    }
    // ‖x − x'‖² is off by no more than this share of ‖x‖² + ‖x'‖² ≥ 2|<x, x'>|; the exponential carries that on.
    const double share = gamma * 2.4e-16 * (terms + 8);
    simd().rbf(gamma, square, others, n, values);
    for (std::size_t k = 0; k < n; ++k) {
      const double exponent = share * (square + others[k]);
      // e^t − 1 ≤ t e^t; and a value that vanished may have been as large as the smallest exponent allows.
      errors[k] = exponent < 1 ? values[k] * (2.8 * exponent + 1e-15) + 1e-300 : 1;
    }
  }

 private:
  static constexpr double cancelled = 1e4;  // what is left of the exponent then is good to 1e-12 or so

  KernelParameters parameters_;
};

}  // namespace margin
