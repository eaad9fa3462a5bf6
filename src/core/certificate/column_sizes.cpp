#include "core/certificate/column_sizes.hpp"

#include <algorithm>
#include <cmath>

#include "core/math/norm.hpp"
#include "core/math/rounding.hpp"

namespace margin {

double root_of_squares(double squares, double n) {
  constexpr double vanished = 1e-150;  // more than the root of what squares lose
  return std::sqrt(squares) * (1 + epsilon * (n + 16)) + vanished * n;
}

double absolute_product(const Row& x, const double* w) {
  double sum = 0;
  for (std::int32_t k = 0; k < x.count; ++k) sum += std::fabs(w[x.indices != nullptr ? x.indices[k] : k] * x.value(k));
  return sum * (1 + epsilon * (x.count + 4.0));
}

ColumnSizes::ColumnSizes(const Problem& p, double constant, const Progress& progress)
    : roots_(static_cast<std::size_t>(p.dimensions()), 0.0), largest_(roots_), radius_(p.data.radius()) {
  double costs = 0;
  const auto take = [&](double c, std::size_t j, double v) {
    roots_[j] += c * (v * v);
    largest_[j] = std::max(largest_[j], std::fabs(v));
  };
  const auto dense = [&](double c, const auto* values, std::int32_t count) {
    for (std::int32_t k = 0; k < count; ++k) take(c, static_cast<std::size_t>(k), static_cast<double>(values[k]));
  };
  for (std::int64_t i = 0; i < p.rows(); ++i) {
    const double c = p.weight(i) / p.total_weight;
    if (!(c > 0)) continue;
    costs += c;
    const Row x = p.data.row(i);
    if (x.indices != nullptr)
      for (std::int32_t k = 0; k < x.count; ++k) take(c, static_cast<std::size_t>(x.indices[k]), x.value(k));
    else if (x.wide)
      dense(c, x.doubles(), x.count);
    else
      dense(c, x.floats(), x.count);
    progress.work(2.0 * x.count);
  }
  const auto n = static_cast<double>(p.rows());
  for (double& of : roots_) of = root_of_squares(of, n);
  if (constant == 0) return;
  largest_.push_back(std::fabs(constant));
  roots_.push_back(std::fabs(constant) * root_of_squares(costs, n));
  radius_ = std::hypot(radius_, constant);
}

double ColumnSizes::largest_product(const std::vector<double>& w) const {
  double products = 0;
  for (std::size_t j = 0; j < w.size(); ++j) products += std::fabs(w[j]) * largest_[j];
  // Of rows with few of many columns their length tells more.
  const double by_length = radius_ * lp_norm(w.data(), static_cast<Eigen::Index>(w.size()), 2);
  return std::min(products, by_length) * (1 + epsilon * (static_cast<double>(w.size()) + 16));
}

double ColumnSizes::noise(const std::vector<double>& w) const {
  const double terms = static_cast<double>(w.size()) + 16;
  return terms * (epsilon * largest_product(w) + tiny);
}

}  // namespace margin
