// The figures of a stored model as a scan's: what a row adds to its verification and to its metrics, as a term that
// knows the row no more, and what the sum of such terms says. One scan serves both, and every chart of the metrics.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/metrics/metrics.hpp"
#include "core/model/model.hpp"
#include "core/model/verification.hpp"
#include "core/scans/row_source.hpp"
#include "core/scans/wire/answer.hpp"
#include "core/scans/wire/term.hpp"

namespace margin {

/// Outputs that a model may be calibrated of, each with two sketches behind those of the margins.
constexpr std::int32_t most_calibrated = most_sketches / 2 - 1;

class ModelFigures {
 public:
  /// `model` and `options`, those it was trained with, are kept by reference. Throws Error(limit_exceeded): more classes
  /// than a confusion matrix has. `weighted`: rows count by weights; their sums are none of rows that count as one.
  ModelFigures(const Model& model, const Options& options, bool weighted = false);
  ModelFigures(const ModelFigures&) = delete;
  ModelFigures& operator=(const ModelFigures&) = delete;

  /// The term of a finite row that fits the model, of a sorted class, or with the ends of its target; valid until the
  /// next call. `memory_limit` as Verification::add. Of weight 0 a row counts for nothing. Throws as that does.
  const Term& term(const Row& x, std::int32_t label, double memory_limit, double weight = 1);
  const Term& term(const Row& x, double target, double upper_target, double memory_limit, double weight = 1);
  /// The term of a row without label or features.
  const Term& skipped();

  /// What the sum of such terms says, as one pass over the rows in parallel workers would: without dual weights, which
  /// belong to an order of rows. Throw Error: invalid_value (terms of another model), malformed, and metrics() of
  /// intervals, which no prediction misses by a number.
  VerifiedModel verification(const Answer& answer, const Progress& progress) const;
  WeightedMetrics classification(const Answer& answer) const;
  RegressionMetrics regression(const Answer& answer) const;
  Judgement judgement(const Answer& answer) const;
  /// The model is to be calibrated: sums have the scores of each output.
  bool calibrated_later() const { return options_.calibration != Calibrate::none && model_.calibration.empty(); }
  bool weighted() const { return weighted_; }
  /// Whether the answer is that of rows with weights, or nobody's.
  static bool weighted(const Model& model, const Options& options, const Answer& answer);

 private:
  /// Numbers of a term behind those of the verification: of classes rows, log loss and Brier's score alone.
  enum Number : std::size_t {
    counted,
    log_loss = 1,
    brier = 2,
    points = 1,
    weights,
    squares,
    absolutes,
    errors,
    deviances,
    targets,
    targets_low,
    high,
    low,
    smallest,
    largest
  };

  const Term& nothing();
  void score(const Row& x);
  void take_verified();
  void require_own(const Answer& answer) const;
  std::int64_t rows_of(const Answer& answer) const;

  const Model& model_;
  const Options& options_;
  const Scorer scorer_;
  Verification verification_;
  const bool weighted_;
  std::optional<WeightedMetrics> classes_;
  std::string verified_;           // reductions of the verification
  std::vector<std::size_t> kept_;  // its numbers that are worth summing up
  std::size_t first_;              // number of the metrics
  std::string reductions_;
  std::vector<double> row_, numbers_, scores_, odds_;
  Entry cells_[5];
  std::vector<Entry> points_;  // of the scores: for the metrics, then of each output
  Term term_, skipped_;
};

}  // namespace margin
