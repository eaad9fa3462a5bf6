// Scores of any loss as probabilities: Platt's sigmoid, or isotonic regression, fitted to scores of rows that their
// model has not seen (train/cross_fit.hpp).
//
// Platt: P(positive | s) = 1/(1 + e^−(a s + b)). (a, b) minimise Σ w (t ln(1 + e^−z) + (1 − t) ln(1 + e^z)),
//   z = a s + b, with the targets t = (N₊ + 1)/(N₊ + 2) for positive rows and 1/(N₋ + 2) for the others: Platt (1999),
//   by Newton's method with backtracking and in the overflow-free form of Lin, Lin & Weng (2007). a ≥ 0: where the free
//   minimum has a < 0 the score tells nothing, and the minimum of the convex problem over a ≥ 0 is at a = 0.
// Isotonic: the nondecreasing function of the score with the least Σ w (p − y)², y = 1 for positive rows and 0 for the
//   others, by pool-adjacent-violators (Ayer et al. 1955); rows of equal score are one. Kept as knots, the two ends of
//   every block; linear between them, constant beyond. Values stay within [1/(n + 2), (n + 1)/(n + 2)], n rows: so many
//   rows cannot show that something never happens.
// Weights are scaled to mean 1 first: as in training, only their proportions count. N₊ and N₋ are sums of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/progress.hpp"
#include "core/options/options.hpp"

namespace margin {

/// What one output says of a row, and what the row is.
struct ScoredRow {
  double score;   ///< finite
  double weight;  ///< ≥ 0
  bool positive;
};

struct Sigmoid {
  double slope = 0;  ///< ≥ 0
  double offset = 0;
};

struct Knot {
  double score, probability;
};

/// Platt's sigmoid. At least one row of positive weight; with equal scores the slope is 0. `count`: how many rows of positive weight
/// these stand for, where each is those of one score; 0: each is one.
Sigmoid fit_sigmoid(const std::vector<ScoredRow>& rows, const Progress& progress, std::int64_t count = 0);

/// Isotonic regression: knots of strictly rising score, nondecreasing probability inside (0, 1). Sorts `rows`. `count`: as above.
std::vector<Knot> fit_isotonic(std::vector<ScoredRow>& rows, const Progress& progress, std::int64_t count = 0);

/// The nondecreasing sequence p with the least Σ w (p − y)²; every w > 0. O(n).
std::vector<double> pool_adjacent_violators(const std::vector<double>& y, const std::vector<double>& w);

/// A model's calibration: one sigmoid per output, or one list of knots per output, or nothing.
struct Calibration {
  std::vector<Sigmoid> sigmoids;
  std::vector<std::vector<Knot>> knots;

  bool empty() const { return sigmoids.empty() && knots.empty(); }
  /// out[o] = ln(p/(1 − p)) of the calibrated probability p of output o: what probabilities() takes in place of the
  /// scores of a logistic model. `out` may be `scores`.
  void log_odds(const double* scores, double* out) const;
};

/// The fit that the options ask for (not Calibrate::none), of one output; appended to `calibration`.
void add_fit(Calibrate kind, std::vector<ScoredRow>& rows, const Progress& progress, Calibration& calibration,
             std::int64_t count = 0);

/// As a table of numbers, row by row. Sigmoids: 2 columns (slope, offset), one row per output. Knots: 3 columns (output
/// from 1, score, probability).
std::vector<double> to_table(const Calibration& calibration);

/// Back from a table of finite numbers. Empty when it is sound, otherwise what is wrong, as the end of a sentence about
/// the table; `calibration` is then of no use.
std::string from_table(const std::vector<double>& values, std::size_t columns, std::int32_t outputs,
                       Calibration& calibration);

}  // namespace margin
