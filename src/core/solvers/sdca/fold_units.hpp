// The option `standardize` for the models of several folds that share their rows: every fold has units of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/progress.hpp"
#include "core/problem/problem.hpp"
#include "core/problem/standardize.hpp"

namespace margin {

/// The units of the rows outside of each fold, for rows that lie in the units of all of them. There a fold's units are
/// a diagonal: the fold's problem is the problem of these rows with the penalty λ/2 Σ_j w_j² / shrink_j, and, where its
/// intercept is penalised, with the columns less the means of the fold's rows. Panels by feature (simd/panel.inc), all of one width.
struct FoldUnits {
  std::vector<double> shrink;  ///< the variance of a column of all rows over that of the fold's
  std::vector<double> shift;   ///< mean · shrink; empty where no column is centred, or the intercept is free
  std::vector<double> square;  ///< of each fold: Σ_j mean² · shrink; zeros without `shift`
  std::vector<double> target;  ///< of each fold: the deviation of its targets over that of all

  /// `problem`: all rows in the units `all`. Folds first … first + count − 1 of `fold`.
  FoldUnits(const Problem& problem, const Standardization& all, const std::vector<std::int32_t>& fold,
            std::int32_t first, std::int32_t count, std::size_t width, const Progress& progress);

  /// The largest ‖x‖² that any fold but `left_out` (from `first`) sees in the row.
  double squared_norm(const Row& x, std::int32_t left_out) const;

  static double bytes(std::int32_t dimensions, std::size_t width) {
    return 8.0 * 6 * static_cast<double>(width) * dimensions;
  }

 private:
  std::int32_t count_;
  std::size_t width_;
};

}  // namespace margin
