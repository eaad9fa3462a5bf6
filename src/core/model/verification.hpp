// The certificate of a stored model, recomputed over any rows in one pass and in any number of pieces: what
// margin_verify answers. The checks are those of a training (certificate/check.hpp).
#pragma once

#include <optional>

#include "core/certificate/ball.hpp"
#include "core/certificate/check.hpp"
#include "core/model/column_space.hpp"
#include "core/model/model.hpp"
#include "core/model/statement_of.hpp"
#include "core/problem/fairness.hpp"

namespace margin {

/// What rows and vectors prove; absent: nothing, or it does not apply.
struct VerifiedModel {
  std::int64_t rows = 0;
  std::optional<std::int64_t> errors, certain;  ///< `certain`: rows that the optimum predicts as the model does
  std::optional<double> margin_lower, margin_upper;
  std::optional<double> primal, dual, gap;
};

class Verification {
 public:
  /// `model` and `options`, those it was trained with, are kept by reference. `all_rows`: every row comes here, in one
  /// order, so that the k-th row meets the k-th dual weight of the model; by weak duality any pairing gives a true
  /// bound.
  Verification(const Model& model, const Options& options, bool all_rows);

  /// A finite row that fits the model, of a sorted class, or with the ends of its target. `memory_limit` in bytes,
  /// negative: none. Throws Error: limit_exceeded, invalid_value (a row too long for a kernel).
  /// `weight` as in the training: of weight 0 a row takes its dual weights, and counts for nothing.
  void add(const Row& x, std::int32_t label, double memory_limit, double weight = 1);
  void add(const Row& x, double target, double upper_target, double memory_limit, double weight = 1);
  std::int64_t rows() const { return rows_; }

  /// As plain numbers, without what the dual weights prove. merge() is false when they are not of this shape.
  std::vector<double> state() const;
  bool merge(const std::vector<double>& state);
  /// How each number of state() takes in another row's (Check::reductions; '1' of a number that counts all rows), and state()
  /// of one row alone, of a weight other than 0, which is not added.
  /// Not of a verification that was made for all rows in one order.
  std::string reductions() const;
  void measure(const Row& x, std::int32_t label, double memory_limit, double* numbers, double weight = 1);
  void measure(const Row& x, double target, double upper_target, double memory_limit, double* numbers,
               double weight = 1);

  /// The figures of all rows so far. Kernel models cost (support vectors)² kernel values more.
  VerifiedModel result(const Progress& progress) const;

 private:
  bool dual_of_scores() const;
  bool objective_is_known() const;
  void start_dual_weights();
  const double* next_dual();
  Row placed(const Row& x, double memory_limit);
  CheckedRow checked(const Row& x, std::int32_t label) const;
  CheckedRow checked(const Row& x, double target, double upper_target) const;
  void add(CheckedRow row, double memory_limit, double weight);
  void measure(CheckedRow row, double memory_limit, double* numbers, double weight);
  void start_groups();
  bool constrain() const;

  const Model& model_;
  const Options& options_;
  const Objective objective_;
  std::int64_t rows_ = 0, certain_rows_ = 0;
  std::size_t next_dual_ = 0;         // of the row to come, those of weight 0 too
  std::optional<ColumnSpace> space_;  // of a model with columns
  std::vector<double> intercept_;     // of regressions: from the center of the targets, as these are
  std::unique_ptr<Check> check_;      // of the model's objective; null: that is not known
  std::unique_ptr<Check> margins_;    // of linear soft margins with classes: their margins as well
  std::optional<Ball> ball_;          // of the same
  std::size_t columns_ = 0;           // dual weights per row, 0: none to check
  bool dual_counts_ = false;          // they prove a bound here
  double dual_scale_ = 1;             // of a hard margin's
  std::vector<double> scaled_;
  std::size_t check_size_ = 0;        // numbers of check_
  Options by_groups_;                 // the option fairness alone, in the features of rows
  std::vector<GroupSums> groups_;     // of its columns and measures
  std::vector<double> coefficients_;  // of a measured row: 0 without dual weights
};

}  // namespace margin
