// The models of all folds of a cross-validation at once: each trained without the rows of its own fold.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/progress.hpp"
#include "core/base/random.hpp"
#include "core/problem/problem.hpp"
#include "core/problem/standardize.hpp"
#include "core/solvers/run.hpp"
#include "core/solvers/sdca/fold_units.hpp"
#include "core/solvers/sdca/shuffle.hpp"

namespace margin {

/// Coordinate ascent on up to `most` folds side by side (solvers/sdca/fold_ascent.cpp). Nothing of a row reaches the
/// model of its own fold. One object follows a falling list of lambdas of one loss: each solve() starts from where the
/// last ended.
class FoldAscent {
 public:
  static constexpr std::int32_t most = 16;

  /// Whether this ascent can follow these options.
  static bool takes(const Options& options);
  /// Bytes for `folds` folds side by side.
  static double workspace(const Problem& problem, std::int32_t folds, bool standardize);

  /// `problem`: all rows, by reference, as `options` are. The folds are first … first + count − 1 of `fold`. `units`:
  /// those that the rows lie in, where every fold is to be standardised by its own rows; null: none.
  FoldAscent(const Problem& problem, const Options& options, const std::vector<std::int32_t>& fold, std::int32_t first,
             std::int32_t count, Run& run, const Standardization* units = nullptr);
  ~FoldAscent();

  /// Ascends until the relative gap of every fold and output is within options.tolerance, for at most `epochs` epochs.
  /// True for each fold (from `first`) whose gap was within.
  std::vector<char> solve(double lambda, double epochs);

  /// Scores of row i, one per output, by the model of its fold as solve() left it; none of a row in another fold.
  const double* held_out(std::int64_t i) const;
  /// That model, in the units of the features and labels, and, where the fold has no units of its own, its duals on the
  /// rows outside of its fold, in their order: a start for another solver.
  InitialModel model(std::int32_t fold) const;

 private:
  struct Visit;
  struct Output;
  template <class L>
  void ascend(const L& loss, double epochs);
  template <class L>
  double epoch(const L& loss);
  template <class L>
  void look(const L& loss, double epochs);
  void turn_to(std::int32_t output, double lambda);
  void rescale(double lambda);
  void settle_zero_rows();
  void recentre();
  void dot_panel(std::size_t i, double* u) const;
  double strength(std::size_t fold) const { return lambda_ * strength_[fold]; }
  double constant_squared(double lambda) const;

  const Problem& problem_;
  const Options& settings_;
  const Standardization* const row_units_;
  const std::int32_t count_;
  const std::size_t width_;  // of a panel: count_ rounded up to whole vectors
  Run& run_;
  Random random_;
  const Stretches stretches_;
  std::vector<Visit> rows_;
  std::vector<Output> outputs_;
  std::vector<double> held_out_;                        // rows × outputs, kept by the last look() at each
  Output* at_ = nullptr;                                // the output that is being solved
  double lambda_ = 0, constant_ = 0, mean_square_ = 0;  // constant_: B² at lambda_; mean_square_: of ‖x‖²
  std::optional<FoldUnits> units_;
  std::vector<double> shifts_;    // rows × folds: <x, units_->shift>; empty without that
  std::vector<double> strength_;  // of each fold: by what lambda grows where its targets' unit differs from that of all
  std::vector<double> unit_;      // classes × folds: class weight over the weight of the rows outside of the fold
  std::vector<double> live_;      // unit_/λ, 0 for folds that are done
  std::vector<char> reached_;
  std::vector<std::int32_t> movable_, order_;
  std::vector<double> estimate_, target_;  // of each fold
  std::vector<double> inner_;              // the largest estimate since a free intercept was recentred
  // A regression's targets are measured from the best constant of the rows outside of the fold: this much from that of
  // all rows, from which `y` is measured. Losses see (score + offset, y), which is the same.
  std::vector<double> offset_;
  double violation_ = 0, widest_ = 0;
  bool moved_ = false;
};

}  // namespace margin
