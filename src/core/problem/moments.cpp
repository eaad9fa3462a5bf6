#include "core/problem/moments.hpp"

#include <cmath>

#include "core/math/rounding.hpp"
#include "core/simd/loops.hpp"

namespace margin {

namespace {

constexpr std::int64_t chunk = 512;  // rows that are summed on their own first: less rounding

}  // namespace

Moments::Moments(const Problem& p, const Progress& progress)
    : features_(static_cast<std::size_t>(p.dimensions())), stride_((features_ + 2 + 7) / 8 * 8) {
  const std::size_t m = size();
  numbers_.assign(m * stride_, 0.0);
  std::vector<double> part(m * stride_, 0.0), dense(m);
  std::vector<std::size_t> at;  // the columns of a row that are not 0, ascending
  const SimdLoops& loops = simd();
  for (std::int64_t begin = 0; begin < p.rows(); begin += chunk) {
    const std::int64_t end = std::min(p.rows(), begin + chunk);
    for (std::int64_t i = begin; i < end; ++i) {
      const double cost = p.weight(i);
      if (cost == 0) continue;
      ++rows_;
      const Row x = p.data.row(i);
      at.clear();
      for (std::int32_t t = 0; t < x.count; ++t) {
        const double value = x.value(t);
        if (value == 0) continue;
        at.push_back(static_cast<std::size_t>(x.indices != nullptr ? x.indices[t] : t));
        dense[at.back()] = value;
      }
      at.push_back(constant());
      dense[constant()] = 1;
      at.push_back(target());
      dense[target()] = p.target(i, 0);
      const bool full = 4 * at.size() > m;
      for (std::size_t s = 0; s < at.size(); ++s) {
        const std::size_t j = at[s];
        const double factor = cost * dense[j];
        double* const to = part.data() + j * stride_;
        if (full)
          loops.axpy_d(factor, dense.data() + j, to + j, m - j);
        else
          for (std::size_t t = s; t < at.size(); ++t) to[at[t]] += factor * dense[at[t]];
      }
      for (const std::size_t j : at) dense[j] = 0;
      const auto count = static_cast<double>(full ? m : at.size());
      progress.work(static_cast<double>(at.size()) * (8 + count / (full ? 8 : 2)));
    }
    for (std::size_t j = 0; j < part.size(); ++j) numbers_[j] += part[j];
    std::fill(part.begin(), part.end(), 0.0);
    progress.work(static_cast<double>(part.size()));
  }
  // Two roundings a product, one a sum, one by W; Σ c |z_j z_k| ≤ W scale_j scale_k.
  ulps_ = static_cast<double>(chunk) + static_cast<double>(p.rows()) / static_cast<double>(chunk) + 8;
  for (std::size_t j = 0; j < m; ++j) {
    for (std::size_t k = j; k < m; ++k) {
      double& value = numbers_[j * stride_ + k];
      value /= p.total_weight;
      numbers_[k * stride_ + j] = value;
    }
    scale_.push_back(std::sqrt(numbers_[j * stride_ + j]) * (1 + 2 * ulps_ * epsilon) + std::sqrt(tiny));
    progress.work(static_cast<double>(m));
  }
}

double Moments::bytes(const Problem& p) {
  const double m = p.dimensions() + 10.0;
  return 8 * (2 * m * m + 4 * m);
}

}  // namespace margin
