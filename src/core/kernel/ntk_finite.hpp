// The tangent kernel of a two-layer ReLU network of m hidden units, Σ_k a_k relu(<u_k, x>)/√m with a_k = ±1 and
// standard normal u_k drawn from the seed: the inner product of the gradients with respect to all parameters,
//
//   k(x, x') = (1/m) Σ_k [ a_k² 1{<u_k, x> > 0} 1{<u_k, x'> > 0} <x, x'> + relu(<u_k, x>) relu(<u_k, x'>) ].
//
// (Ji, Srebro, Telgarsky 2021, Figure 3, with m = 128.) The signs a_k drop out. A row's summary is ‖x‖² and its m
// activations, so that an evaluation costs m multiplications, whatever the rows' width.
#pragma once

#include <algorithm>

#include "core/base/huge_pages.hpp"
#include "core/base/normal.hpp"
#include "core/base/progress.hpp"
#include "core/kernel/linear.hpp"

namespace margin {

class NtkFiniteKernel final : public KernelFunction {
 public:
  static constexpr std::string_view id = "ntk_finite";
  static constexpr std::string_view formula =
      "the same of a network of width hidden units u with standard normal weights: (1/m) sum [1{u.x > 0} "
      "1{u.x' > 0} <x, x'> + relu(u.x) relu(u.x')]";
  static constexpr std::array<std::string_view, 2> reads{"width", "seed"};
  /// `progress` hears of the units that are drawn.
  NtkFiniteKernel(const KernelParameters& p, std::int32_t dimensions, const Progress& progress)
      : dimensions_(static_cast<std::size_t>(dimensions)) {
    parameters_.width = p.width;
    parameters_.seed = p.seed;
    Normal normal(p.seed);
    // Not filled with zeros first: that is up to 800 MB, which nobody could interrupt. Nor could one interrupt the end of
    // them, which takes a millisecond for 4 MB of small pages.
    const std::size_t size = static_cast<std::size_t>(p.width) * dimensions_;
    units_.reserve(size);
    prefer_huge_pages(units_.data(), size * sizeof(double));
    while (units_.size() < size) {
      units_.push_back(normal.next());
      progress.work(32);
    }
  }
  std::string_view name() const override { return id; }
  const KernelParameters& parameters() const override { return parameters_; }
  std::size_t summary_size() const override { return 1 + width(); }
  double operations() const override { return 2.0 * parameters_.width; }
  double bytes() const override { return 8.0 * static_cast<double>(units_.size()); }

  void summarize(const Row& x, double* summary, const Progress& progress) const override {
    summary[0] = squared_norm(x);
    for (std::size_t k = 0; k < width(); ++k) {
      summary[1 + k] = std::max(0.0, dot(x, units_.data() + k * dimensions_));
      progress.work(x.count + 16.0);
    }
  }

  double diagonal(const double* summary) const override {
    double value = summary[0];
    evaluate(summary, summary, 1, 0, &value, nullptr);
    return value;
  }

  void evaluate(const double* own, const double* others, std::size_t n, double terms, double* values,
                double* errors) const override {
    const double m = parameters_.width;
    for (std::size_t k = 0; k < n; ++k) {
      const double* other = others + k * summary_size();
      double both = 0, product = 0;
      simd().relu_pair(own + 1, other + 1, width(), &both, &product);
      const double inner = values[k];
      values[k] = (both * inner + product) / m;
      if (errors == nullptr) continue;
      // The activations, once rounded, are what defines the kernel: a unit that rounding turns on has an activation of
      // that size. So only the two sums err.
      errors[k] = both / m * LinearKernel::inner_error(own[0], other[0], terms) +
                  1.2e-16 * (m + 8) * (product + both * std::fabs(inner)) / m + 2 * tiny;
    }
  }

 private:
  std::size_t width() const { return static_cast<std::size_t>(parameters_.width); }

  KernelParameters parameters_;
  std::size_t dimensions_;
  std::vector<double> units_;
};

}  // namespace margin
