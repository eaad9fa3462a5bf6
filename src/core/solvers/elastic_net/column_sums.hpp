// What columns sum one dual vector after another up to, where it matters. For few rows and many features these sums are
// most of the work, and most of them only tell that a weight stays 0.
//
// Bounds by the sums of vectors before it (data/column_bounds.hpp) leave few columns along a path. No certificate reads any
// of it.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/base/progress.hpp"
#include "core/data/column_bounds.hpp"
#include "core/data/columns.hpp"
#include "core/problem/problem.hpp"

namespace margin {

/// v_j = (1/W) Σ_i a_i x_ij.
class ColumnSums {
 public:
  /// All are kept by reference.
  ColumnSums(const Problem& problem, const Columns& columns, const Progress& progress);
  static double bytes(const Problem& problem);

  /// All sums of a.
  void all(const std::vector<double>& a);
  /// Bounds of all of them; sums follow as they are asked for. `a` stays as it is until then.
  void some(const std::vector<double>& a);
  /// The features j with |v_j| ≥ least · factor_j, ascending, and maybe others; their sums are known.
  const std::vector<std::size_t>& at_least(double least);
  /// The sums of these are known.
  void know(const std::vector<std::size_t>& features);
  /// Sums that are known; others are of vectors before.
  const std::vector<double>& values() const { return v_; }

 private:
  void keep();
  void sum();

  const Problem& problem_;
  const Columns& columns_;
  const Progress& progress_;
  std::vector<double> v_;
  const double* a_ = nullptr;
  std::vector<double> centre_, radius_;  // v_j / factor_j is that near
  std::vector<char> known_;
  std::vector<std::size_t> found_;
  double least_ = 0;  // of found_; −1: none was asked for
  std::vector<std::size_t> asked_;
  std::vector<std::int32_t> places_;
  std::vector<double> before_;  // the last vector with all sums
  bool kept_ = false;           // bounds_ has them
  std::optional<ColumnBounds> bounds_;
  std::size_t spent_ = 0;  // sums since
};

}  // namespace margin
