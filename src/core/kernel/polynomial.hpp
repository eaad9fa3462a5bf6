// The polynomial kernel, k(x, x') = (γ <x, x'> + c)^p with c ≥ 0 and a whole p ≥ 1.
#pragma once

#include "core/kernel/linear.hpp"

namespace margin {

class PolynomialKernel final : public KernelFunction {
 public:
  static constexpr std::string_view id = "polynomial";
  static constexpr std::string_view formula = "(gamma <x, x'> + coef0)^degree";
  static constexpr std::array<std::string_view, 3> reads{"gamma", "degree", "coef0"};
  explicit PolynomialKernel(const KernelParameters& p) {
    parameters_.gamma = p.gamma;
    parameters_.degree = p.degree;
    parameters_.coef0 = p.coef0;
  }
  std::string_view name() const override { return id; }
  const KernelParameters& parameters() const override { return parameters_; }
  double diagonal(const double* summary) const override {
    return power(parameters_.gamma * summary[0] + parameters_.coef0);
  }

  void evaluate(const double* own, const double* others, std::size_t n, double terms, double* values,
                double* errors) const override {
    const double gamma = parameters_.gamma, constant = parameters_.coef0, degree = parameters_.degree;
    for (std::size_t k = 0; k < n; ++k) {
      const double base = gamma * values[k] + constant;
      values[k] = power(base);
      if (errors == nullptr) continue;
      // |t^p − s^p| ≤ p |t − s| max(|s|, |t|)^(p−1), and a relative error of p roundings of the product.
      const double moved = gamma * inner_error(own[0], others[k], terms) + 4.5e-16 * (std::fabs(base) + constant);
      const double largest = std::fabs(base) + moved;
      errors[k] =
          degree * (moved * std::pow(largest, degree - 1) * (1 + 1e-12) + 2.3e-16 * std::fabs(values[k]) + tiny);
    }
  }

 private:
  static double inner_error(double a, double b, double terms) { return LinearKernel::inner_error(a, b, terms); }

  double power(double base) const {
    double result = 1;
    for (std::int32_t left = parameters_.degree; left > 0; left >>= 1, base *= base)
      if ((left & 1) != 0) result *= base;
    return result;
  }

  KernelParameters parameters_;
};

}  // namespace margin
