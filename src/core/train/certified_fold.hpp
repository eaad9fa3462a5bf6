// One fold of a certified selection: its trainings at any lambda, and which of its held-out rows are certainly wrong at all
// lambdas of a range.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/consequences/between/between.hpp"
#include "core/model/model.hpp"
#include "core/problem/standardize.hpp"
#include "core/train/folds.hpp"
#include "core/train/path.hpp"

namespace margin {

class CurvatureBetween;  // consequences/between/curvature_between.hpp

/// What a fold found at one lambda.
struct FoldPoint {
  std::optional<PathPoint> point;  ///< nothing where its optimum is not bounded
  std::vector<double> dual;        ///< of its training, where a start or a proof needs them
  std::vector<double> scores;      ///< of the rows held out
  std::optional<double> accuracy;
  double intercept = 0;
};

/// A training that others start from; null: none.
struct Neighbour {
  const FoldPoint* point = nullptr;
  double lambda = 0;
};

/// Shares of the held-out rows, range by range.
struct WrongShares {
  std::vector<double> proven;  ///< certainly wrong at all lambdas of the range
  std::vector<double> likely;  ///< what can be hoped for
};

/// What of them is asked for, range by range.
struct WrongGoals {
  std::vector<double> proven;  ///< enough
  std::vector<double> close;   ///< no more is to be had where that is all that is missing of what can be hoped for
  std::vector<char> open;      ///< neither is so yet
};

/// The rows that train for it, in the units of its trainings, and those held out.
class CertifiedFold {
 public:
  CertifiedFold(const Dataset& data, const FoldRows& rows, std::int32_t f, const Options& options,
                const Progress& progress, MemoryBudget& memory);
  CertifiedFold(const CertifiedFold&) = delete;
  CertifiedFold& operator=(const CertifiedFold&) = delete;

  /// From the vectors between those of `a` and `b`. Returns whether the training reached its tolerance.
  bool train_at(double lambda, double given_tolerance, const Neighbour& a, const Neighbour& b,
                const std::vector<std::int32_t>& rank, FoldPoint& out, const Progress& progress,
                const MemoryBudget& memory) const;

  /// Between a and b, by their balls; where by_kinks() can do better only what can be hoped for. `borders` of the ranges:
  /// from the lambda of a to that of b.
  WrongShares by_balls(const FoldPoint& a, const FoldPoint& b, const std::vector<double>& borders,
                       const std::vector<std::int32_t>& rank, const Progress& progress) const;
  /// The same by the curvature of the loss as well, until no range is open.
  WrongShares by_curvature(const FoldPoint& a, const FoldPoint& b, const std::vector<double>& borders, WrongGoals goals,
                           const std::vector<std::int32_t>& rank, const Progress& progress, const MemoryBudget& memory);

  /// The same by the kinks of the loss. `likely`: of by_balls(). Gives up where of a range more than a `spare` share is missing.
  WrongShares by_kinks(const FoldPoint& a, const FoldPoint& b, const std::vector<double>& borders,
                       const std::vector<double>& spare, const std::vector<std::int32_t>& rank,
                       const Progress& progress) const;

  bool bends() const { return bends_; }
  /// by_kinks() does.
  bool kinks() const { return kinks_ && keep_dual_; }
  /// Bytes that the vectors of one training take, and those of one call of by_curvature().
  double bytes() const;
  double working_bytes() const;
  /// Piecewise linear losses start from dual weights as well, where there is room for those of so many trainings.
  void keep_dual(double trainings, MemoryBudget& memory);
  /// Dense rows that are held out in the units of the trainings, where there is room for them.
  void keep_held(const Progress& progress, MemoryBudget& memory);

 private:
  struct Undecided;
  struct Ends {
    const FoldPoint &a, &b;
  };

  std::vector<Undecided> undecided(const std::vector<double>& a, const std::vector<double>& b,
                                   const std::vector<std::int32_t>& rank, const Progress& progress) const;
  std::vector<double> scores(const std::vector<double>& weights, double intercept, const Progress& progress) const;
  void by_curvature(CurvatureBetween& curve, std::size_t first, const Ends& trained, WrongGoals& goals,
                    const std::vector<std::int32_t>& rank, WrongShares& out, const Progress& progress,
                    const MemoryBudget& memory);
  void follow(CurvatureBetween& curve, std::size_t first, const std::vector<Undecided>& rows, WrongGoals& goals,
              WrongShares& out, const Progress& progress) const;
  double tolerance(double lambda) const;
  Row row(std::size_t held, std::vector<double>& values) const;
  InitialModel start(double lambda, const Neighbour& a, const Neighbour& b) const;

  const Dataset& data_;
  const Dataset part_;
  const StandardizedRows standardized_;
  Options settings_;
  RowUnits units_;
  double shift_ = 0, constant_ = 0, weight_ = 0;
  std::optional<Problem> problem_;
  bool smooth_ = false, bends_ = false, kinks_ = false, keep_dual_ = false;
  std::vector<std::int64_t> held_;
  std::vector<double> held_values_;  // see keep_held()
  std::vector<double> lengths_;      // of the rows that train, by the curvature that was used last
};

}  // namespace margin
