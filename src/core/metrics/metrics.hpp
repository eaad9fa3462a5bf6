// How good a model is on labelled rows: counters that are added row by row, merge across parallel workers, and yield
// the figures of margin_evaluate. Rows count as one, or with a weight.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "core/math/exact_sum.hpp"
#include "core/math/quantile_sketch.hpp"

namespace margin {

/// How often what was predicted with a probability came true, in ten bins of equal width over [0, 1]. Count: see
/// CountingMetrics.
template <class Count>
class CountingReliability {
 public:
  static constexpr std::size_t bins = 10;

  struct Bin {
    Count rows = 0, hits = 0;
    double probability = 0;    ///< mean of the predicted ones
    double low = 0, high = 0;  ///< 95 % of the share of hits of so many rows (Wilson's score interval)
  };

  /// 0 ≤ probability ≤ 1; NaN counts as 0.
  void add(double probability, bool hit, Count weight = 1);
  /// Of so many rows at once, with the sum of their probabilities: false when the counts contradict each other.
  bool add_bin(std::size_t bin, Count rows, Count hits, double sum);
  static std::size_t bin_of(double probability) {
    return std::min(static_cast<std::size_t>(probability * bins), bins - 1);
  }
  void merge(const CountingReliability& other);
  /// Bin 0 holds 0 ≤ p < 0.1, the last one 0.9 ≤ p ≤ 1; empty ones have 0 rows.
  std::vector<Bin> result() const;

  /// See Sketch::exchange.
  template <class Archive>
  bool exchange(Archive& archive) {
    for (std::size_t b = 0; b < bins; ++b) {
      archive(rows_[b]);
      archive(hits_[b]);
      archive(sums_[b]);
      if (!(hits_[b] >= 0 && hits_[b] <= rows_[b])) return false;
    }
    return true;
  }

 private:
  std::array<Count, bins> rows_{}, hits_{};
  std::array<double, bins> sums_{};
};

using Reliability = CountingReliability<std::int64_t>;

/// A point of a ROC curve: shares of the rows of either class whose score reaches a threshold.
struct RocPoint {
  double false_positives, true_positives;
};

/// Rows of two classes by a threshold: those whose score is at least this are called the second class.
struct ThresholdCounts {
  double threshold = 0;
  double false_positives = 0, true_positives = 0;  ///< rows, or their weights
};

/// What one row adds to the counters of a classification model.
struct RowMetrics {
  std::size_t cell = 0;                  ///< of the confusion matrix
  std::int32_t rank = 0;                 ///< how many classes have a better score than the true one
  double log_loss = 0, probability = 0;  ///< of models that give probabilities; the latter from 0 to 1
  double brier = 0;                      ///< (P − 1[y])² of the second of two classes
  bool hit = false;                      ///< what that probability is of came true
  std::int32_t sketch = 0;               ///< 0 or 1, and the number for it
  double score = 0;
};

/// Counters of a classification model with sorted classes 0 … k−1. O(k²) memory plus the sketches of the margins. Count:
/// std::int64_t, or double of rows with weights; what follows says rows for either.
template <class Count>
class CountingMetrics {
 public:
  using Margins = CountingSketch<Count>;
  static constexpr std::int32_t most_classes = 4096;
  static constexpr std::int32_t most_ranks = 10;

  /// `weight_norm` = ‖weights‖ turns score differences into margins (0: margins are 0); `probabilistic`: the model
  /// gives probabilities. Throws Error(limit_exceeded) beyond most_classes.
  CountingMetrics(std::int32_t classes, double weight_norm, bool probabilistic);

  /// One row: its class, the predicted class, and the model's scores (1 for two classes, otherwise one per class).
  /// `log_odds`: those of a calibrated model (Calibration::log_odds); null: the scores themselves. `weight` > 0.
  void add(std::int32_t label, std::int32_t predicted, const double* scores, const double* log_odds = nullptr,
           Count weight = 1);
  /// What add() would add.
  RowMetrics measure(std::int32_t label, std::int32_t predicted, const double* scores,
                     const double* log_odds = nullptr) const;
  /// Adds the counters of the same model over other rows.
  void merge(const CountingMetrics& other);
  /// Adds counters as they add up from measure(): of the confusion matrix (all cells), per bin of the reliability
  /// (rows, hits, sum of probabilities; only of models that give them), of both sketches. False, and nothing is to be
  /// made of them, when they do not fit each other, by more than sums of weights are rounded.
  struct Sums {
    std::int64_t rows = 0;
    double log_loss = 0, brier = 0;
    std::vector<Count> confusion, ranks;
    struct Bin {
      Count rows = 0, hits = 0;
      double probabilities = 0;
    };
    std::array<Bin, Reliability::bins> reliability{};
    Margins sketches[2];
  };
  bool merge(const Sums& sums);

  /// How many ranks are counted: none of two classes.
  std::int32_t ranks() const { return static_cast<std::int32_t>(ranks_.size()); }
  std::int64_t rows() const { return rows_; }
  /// What the rows weigh together.
  Count weight() const { return weight_; }
  /// k × k, row = true class, column = predicted class.
  const std::vector<Count>& confusion() const { return confusion_; }
  double accuracy() const;
  /// More than two classes: the share of rows whose class is among the n with the best scores, n = 1 … min(k, most_ranks).
  std::vector<double> top_k() const;
  /// Per class; nothing where the figure would be 0/0.
  std::vector<std::optional<double>> precision() const;
  std::vector<std::optional<double>> recall() const;
  std::vector<std::optional<double>> f1() const;
  /// Of the margins: ± score/‖w‖ for two classes, (s_y − max_{c≠y} s_c)/‖W‖_F otherwise.
  std::vector<double> margin_quantiles(const std::vector<double>& q) const;
  /// Two classes, both present.
  std::optional<double> auc() const;
  /// The same: Σ (R_k − R_{k−1}) P_k over the distinct scores from the largest on, of recall R and precision P.
  std::optional<double> average_precision() const;
  /// Matthews' correlation of the predicted and the true class (Gorodkin 2004 for more than two); nothing where either is
  /// always the same.
  std::optional<double> matthews() const;
  /// Mean of (P(second class) − 1[it is that])², of two classes.
  std::optional<double> brier() const;
  /// Mean of −ln P(true class), for models that give probabilities.
  std::optional<double> log_loss() const;
  /// Two classes, both present: from (0, 0) to (1, 1), one step for each distinct score. Otherwise empty.
  std::vector<RocPoint> roc() const;
  /// Two classes, both present: what thresholds do, from one above all scores (infinity) to the least score; the counts are
  /// exact at each. Otherwise empty.
  std::vector<ThresholdCounts> thresholds() const;
  /// The margins with their counts, ascending: of the rows of one of two classes, or (more classes) of all rows.
  std::vector<typename Margins::Item> margins(std::int32_t label) const;
  /// Of models that give probabilities: of the second class; more than two classes: of the predicted class.
  const std::optional<CountingReliability<Count>>& reliability() const { return reliability_; }
  std::int32_t classes() const { return classes_; }

  /// See Sketch::exchange.
  template <class Archive>
  bool exchange(Archive& archive) {
    const std::size_t cells = confusion_.size(), ranks = ranks_.size();
    archive(rows_);
    archive(log_loss_);
    archive(brier_);
    archive(confusion_);
    archive(ranks_);
    if constexpr (std::is_floating_point_v<Count>)
      archive(weight_);
    else
      weight_ = rows_;
    if (reliability_.has_value() && !reliability_->exchange(archive)) return false;
    return sketches_[0].exchange(archive) && sketches_[1].exchange(archive) && confusion_.size() == cells &&
           ranks_.size() == ranks && rows_ >= 0 && weight_ >= 0;
  }

 private:
  Count cell(std::int32_t truth, std::int32_t predicted) const;
  /// Σ over the row (or column) of class c.
  Count actual(std::int32_t c) const;
  Count claimed(std::int32_t c) const;

  std::int32_t classes_;
  double scale_;
  std::optional<CountingReliability<Count>> reliability_;  // of models that give probabilities
  std::int64_t rows_ = 0;
  Count weight_ = 0;
  double log_loss_ = 0, brier_ = 0;
  std::vector<Count> confusion_;
  std::vector<Count> ranks_;  // more than two classes: rows by their rank, beyond the last of these none
  Margins sketches_[2];       // two classes: the scores of each class; otherwise [0] holds the margins
};

using ClassificationMetrics = CountingMetrics<std::int64_t>;
using WeightedMetrics = CountingMetrics<double>;

/// Counters of a regression model.
class RegressionMetrics {
 public:
  /// `deviance`: twice the loss, where that is half a deviance. `weight` > 0.
  void add(double target, double prediction, double deviance = 0, double weight = 1);
  /// Adds rows of which only sums are known. Σ w y² has to hold more digits than a double: what is left of it without the
  /// mean is the spread.
  struct Sums {
    std::int64_t rows = 0;
    ExactSum weights;                                              ///< Σ w; every other sum is of w times
    double squares = 0, absolutes = 0, errors = 0, deviances = 0;  ///< (y − f)², |y − f|, y − f
    ExactSum targets, target_squares;                              ///< y, y²
    double smallest = 0, largest = 0;                              ///< of the targets
  };
  void merge(const Sums& sums);
  void merge(const RegressionMetrics& other);

  std::int64_t rows() const { return rows_; }
  double weight() const { return weight_; }
  double mean_squared_error() const;
  double mean_absolute_error() const;
  double mean_deviance() const;
  /// The mean of the quantile loss of this τ: τ(y − f) for f ≤ y, (1 − τ)(f − y) beyond.
  double mean_pinball(double tau) const;
  /// 1 − Σ(y − f)² / Σ(y − ȳ)²; nothing when all targets are equal.
  std::optional<double> r_squared() const;

  template <class Archive>
  bool exchange(Archive& archive) {
    archive(rows_);
    archive(weight_);
    archive(squares_);
    archive(absolutes_);
    archive(errors_);
    archive(deviances_);
    archive(mean_);
    archive(spread_);
    return rows_ >= 0;
  }

 private:
  std::int64_t rows_ = 0;
  double weight_ = 0;
  double squares_ = 0, absolutes_ = 0, errors_ = 0, deviances_ = 0;
  double mean_ = 0, spread_ = 0;  // of the targets: Σ (y − mean)², by Welford's update
};

}  // namespace margin
