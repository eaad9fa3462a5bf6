// How large the columns of a problem's rows are: what sums over rows, and scores, may be off by, column by column.
//
// A bound by the length of rows is one by their largest column. Where that is a time in milliseconds, 2e12 among columns of
// 1, all others are lost in it. By columns, a sum Σ c t x/W whose t are off by `off` errs by Σ c |off| |x_j|/W in column j, no more
// than √(Σ c off²/W) times what is kept here, and a score by ulps of Σ |w_j||x_j|. Either is as small as it would be with
// columns in other units, and so is what they come to in the norm of a curvature's inverse (InverseCurvature::reach).
#pragma once

#include <vector>

#include "core/base/progress.hpp"
#include "core/problem/problem.hpp"

namespace margin {

/// ≥ the root of Σ v² over n numbers, of which `squares` is what a computation says.
double root_of_squares(double squares, double n);

/// ≥ Σ |w_j||x_j|
double absolute_product(const Row& x, const double* w);

class ColumnSizes {
 public:
  /// Of the rows of a problem and of a column of the value `constant`, the last, where that is not 0.
  ColumnSizes(const Problem& problem, double constant, const Progress& progress);

  /// ≥ √(Σ c x_j²/W) of every column.
  const std::vector<double>& roots() const { return roots_; }
  /// ≥ Σ |w_j||x_j| of any row, for weights of every column.
  double largest_product(const std::vector<double>& w) const;
  /// ≥ what the score of any row is off.
  double noise(const std::vector<double>& w) const;

 private:
  std::vector<double> roots_, largest_;
  double radius_;
};

}  // namespace margin
