// Second moments of the rows, a constant and the targets: all that a squared loss asks of them, whatever the weights.
#pragma once

#include <vector>

#include "core/base/progress.hpp"
#include "core/problem/problem.hpp"

namespace margin {

/// Of a regression with d features: (1/W) Σ c z zᵀ for z = (x, 1, y), y in the units of Problem::target().
class Moments {
 public:
  Moments(const Problem& problem, const Progress& progress);
  static double bytes(const Problem& problem);

  std::size_t features() const { return features_; }
  std::size_t constant() const { return features_; }
  std::size_t target() const { return features_ + 1; }
  std::size_t size() const { return features_ + 2; }
  std::size_t stride() const { return stride_; }
  const double* row(std::size_t j) const { return numbers_.data() + j * stride_; }
  double of(std::size_t j, std::size_t k) const { return row(j)[k]; }
  /// √((1/W) Σ c z_j²), rounded up: a moment is at most the product of two of them.
  double scale(std::size_t j) const { return scale_[j]; }
  /// A moment of j and k errs by at most so many epsilon of scale(j) · scale(k).
  double ulps() const { return ulps_; }
  std::int64_t rows() const { return rows_; }  ///< that have a weight

 private:
  std::size_t features_, stride_;
  std::vector<double> numbers_, scale_;  // both triangles
  double ulps_ = 0;
  std::int64_t rows_ = 0;
};

}  // namespace margin
