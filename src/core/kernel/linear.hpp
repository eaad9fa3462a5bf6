// The linear kernel, k(x, x') = <x, x'>: for solvers that know rows only through a kernel.
#pragma once

#include <cmath>

#include "core/kernel/kernel.hpp"
#include "core/math/rounding.hpp"

namespace margin {

class LinearKernel final : public KernelFunction {
 public:
  static constexpr std::string_view id = "linear";
  static constexpr std::string_view formula = "<x, x'>; taken as a kernel by the solvers for kernels alone";
  static constexpr std::array<std::string_view, 0> reads{};
  std::string_view name() const override { return id; }
  const KernelParameters& parameters() const override { return parameters_; }
  double diagonal(const double* summary) const override { return summary[0]; }
  double operations() const override { return 1; }

  void evaluate(const double* own, const double* others, std::size_t n, double terms, double* /*values*/,
                double* errors) const override {
    if (errors == nullptr) return;
    for (std::size_t k = 0; k < n; ++k) errors[k] = inner_error(own[0], others[k], terms);
  }

  /// A bound on the rounding of an inner product of vectors with these squared norms.
  static double inner_error(double a, double b, double terms) {
    return 1.2e-16 * (terms + 4) * (std::sqrt(a) * std::sqrt(b)) + (terms + 4) * tiny;
  }

 private:
  KernelParameters parameters_;
};

}  // namespace margin
