// What the targets of a regression are measured from, and in. A penalised intercept pulls the model to predictions of
// 0; where targets lie far from 0 it had better pull to the best constant prediction.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/progress.hpp"
#include "core/data/dataset.hpp"
#include "core/loss/loss.hpp"

namespace margin {

/// The rows whose targets count: all, or those outside of one fold.
struct TargetRows {
  const Dataset& data;
  const std::vector<std::int32_t>* fold = nullptr;  ///< null: all rows
  std::int32_t left_out = 0;
  std::int32_t offset = -1;  ///< the feature that predictions contain as it is; −1: none

  bool hold(std::int64_t i) const {
    return data.weight(i) > 0 && (fold == nullptr || (*fold)[static_cast<std::size_t>(i)] != left_out);
  }
};

/// The constant that `loss` likes best as the score of every row (beside its offset), by row weights: the mean where the loss grows as a square
/// (its logarithm where e^u is the mean), the median (of an even number of rows the middle of both) where it grows as the absolute error, another
/// quantile where one side of it is steeper. The latter are best for the absolute error and the quantile loss, and near
/// enough for a loss that is flat or rounded at 0.
double best_constant(const TargetRows& rows, const Loss& loss, const Progress& progress);
/// Of a loss that grows as the absolute error: which quantile that is, ½ for the median.
double share_below(const Loss& loss);

/// The lambda of the problem in the units of the label. Where the label of a regression counts in deviations σ
/// (Options::label_unit), losses that grow as the absolute error see (y − u)/σ: that problem times σ is the one of
/// lambda/σ. Those that grow as its square have the same lambda in any unit, and so have counts. An elastic net is left
/// alone: its two parts would not scale alike.
double lambda_in_label_units(double lambda, const Options& options, const Loss& loss);

/// Counts lambda in deviations `unit` of the label, and the defaults of epsilon and smoothing too: those that are given
/// are lengths in the label's units.
void count_in_deviations(Options& options, double unit);

/// The standard deviation of the targets by row weights; 1 where they are constant up to rounding.
double target_deviation(const TargetRows& rows, const Progress& progress);

}  // namespace margin
