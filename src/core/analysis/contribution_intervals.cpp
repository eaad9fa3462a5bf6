#include "core/analysis/contribution_intervals.hpp"

#include <algorithm>
#include <cmath>

#include "core/math/rounding.hpp"
#include "core/model/products.hpp"
#include "core/model/statement_of.hpp"

namespace margin {

std::unique_ptr<ContributionIntervals> ContributionIntervals::of(const Model& model, const Options& options) {
  if (!takes_ball(shape_product, model, options)) return nullptr;
  Ball ball(objective_of(model, options), model.weights.data(), model.intercept.data(), model.certificate.gap,
            model.dual_point.get());
  return std::unique_ptr<ContributionIntervals>(new ContributionIntervals(model, std::move(ball)));
}

ContributionIntervals::ContributionIntervals(const Model& model, Ball ball)
    : ball_(std::move(ball)),
      mean_(static_cast<std::size_t>(model.terms())),
      product_(static_cast<std::size_t>(model.outputs())),
      product_size_(product_.size()) {}

void ContributionIntervals::set_mean(Entries mean) {
  for (const auto& [term, value] : entries_) mean_[static_cast<std::size_t>(term)] = 0;
  entries_ = std::move(mean);
  double square = 0;
  std::fill(product_.begin(), product_.end(), 0.0);
  std::fill(product_size_.begin(), product_size_.end(), 0.0);
  for (const auto& [term, value] : entries_) {
    mean_[static_cast<std::size_t>(term)] = value;
    square += value * value;
    for (std::size_t o = 0; o < product_.size(); ++o) {
      const double p = value * ball_.centre()(static_cast<Eigen::Index>(o), term);
      product_[o] += p;
      product_size_[o] += std::fabs(p);
    }
  }
  square_ = square * (1 + epsilon * (static_cast<double>(entries_.size()) + 4)) + tiny;
}

void ContributionIntervals::interval(const Entries& part, std::int32_t output, double* lower, double* upper) const {
  const auto o = static_cast<std::size_t>(output);
  double value = 0, size = 0, without = 0, with = 0;
  for (const auto& [term, x] : part) {
    const double p = x * ball_.centre()(output, term), m = mean_[static_cast<std::size_t>(term)];
    value += p;
    size += std::fabs(p);
    without += m * m;
    with += (x - m) * (x - m);
  }
  const double n = static_cast<double>(part.size() + entries_.size()) + 8;
  // Of the mean what the part has no entry for, and the rest; the sum that is taken away may err by what it is made of.
  const double square = std::max(0.0, square_ - without) + with + epsilon * n * (square_ + without + with);
  const double reach = std::sqrt(square) * (1 + 4 * epsilon) * ball_.radius(o);
  const double rounding = epsilon * n * (size + product_size_[o]) + n * tiny;
  *lower = value - product_[o] - (reach * (1 + 4 * epsilon) + 2 * rounding);
  *upper = value - product_[o] + (reach * (1 + 4 * epsilon) + 2 * rounding);
  if (!std::isfinite(*lower) || !std::isfinite(*upper)) {
    *lower = -infinity;
    *upper = infinity;
  }
}

}  // namespace margin
