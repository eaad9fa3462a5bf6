// What all certificates have in common: rows go in one by one, with their dual weights; an interval comes out. The same
// checks certify a training (certificate/certificate.hpp) and verify a stored model over a table
// (model/verification.hpp), there in any number of pieces.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/progress.hpp"
#include "core/certificate/certificate.hpp"
#include "core/data/coded_rows.hpp"
#include "core/loss/loss.hpp"
#include "core/problem/statement.hpp"

namespace margin {

struct DualPoint;  // certificate/ball.hpp

/// What is certified, besides rows of so many features.
struct Objective : Statement {
  Objective() { classes = 2; }
  Objective(Statement statement, std::int32_t features) : Statement(std::move(statement)), dimensions(features) {}

  std::int32_t dimensions = 0;

  bool hard_margin() const { return loss == nullptr; }
  /// What an output should give on a row of a class: ±1.
  double target(std::int32_t label, std::int32_t output) const {
    return label == (task == Task::multiclass ? output : 1) ? 1.0 : -1.0;
  }
};
Objective objective_of(const Problem& problem);

/// The vectors of a model, kept by pointer.
struct ModelVectors {
  const double* weights = nullptr;    ///< outputs × d, or × the size of the basis
  const double* intercept = nullptr;  ///< per output; null: none
  const Basis* basis = nullptr;       ///< null: linear in the features
};

/// One row. A check reads what its objective knows of.
struct CheckedRow {
  Row x;
  std::int32_t label = 0;               ///< sorted class index
  double target = 0, upper_target = 0;  ///< of a regression; of interpolation the ends of the row's interval
  double sample_weight = 1;             ///< counts in W
  double loss_weight = 1;               ///< sample weight × class weight: weighs the loss
  const double* dual = nullptr;         ///< one value per output, as in Solution; null: none
};

/// Bounds are moved outward by a bound on the rounding of the check's own computation.
class Check {
 public:
  virtual ~Check() = default;
  virtual void add(const CheckedRow& row) = 0;
  /// The same of `count` rows, in their order.
  virtual void add_all(const CheckedRow* rows, std::size_t count) {
    for (std::size_t k = 0; k < count; ++k) add(rows[k]);
  }
  /// There are `dimensions` columns now, and outputs × `dimensions` weights (0 for the new ones), kept by pointer. Of
  /// models that are linear in the features; others have no columns that could be missing.
  virtual void widen(std::int32_t /*dimensions*/, const double* /*weights*/) {}
  /// The state as plain numbers, for parallel workers and for scans; what the dual weights add as vectors is left out.
  /// merge() is false, and nothing is changed, when they are not of this shape.
  virtual std::vector<double> state() const = 0;
  virtual bool merge(const std::vector<double>& state) = 0;
  /// How each number of state() takes in another row's: '+' they add up, '<' the smaller stays, '>' the larger; '0' of a
  /// number that is 0 for every row. The first counts rows. Empty: this check sees its rows one by one in its own process,
  /// and measure() is not for it.
  virtual std::string reductions() const { return {}; }
  /// state() of this row alone, without adding it; and per output the coefficient c of Σ c x that belongs to its dual
  /// weights (0 without them).
  virtual void measure(const CheckedRow& /*row*/, double* /*numbers*/, double* /*coefficients*/) {}
  /// An empty check of the same vectors, for some of the rows on another thread; null: rows come one by one.
  virtual std::unique_ptr<Check> part() const { return nullptr; }
  /// The numbers that a part has for sums of rows.
  virtual double part_size() const { return 0; }
  /// Adds the rows of a part() of this check. The bits follow from the parts and their order.
  virtual void add_part(Check& /*part*/) {}
  /// Before certificate(): these constraints in place of those of the objective, which only the rows make.
  virtual void constrain(Constraints /*constraints*/) {}
  /// What the rows so far and the vectors prove. Where the dual weights prove nothing the bound is an infinite one or
  /// one that needs none.
  virtual Certificate certificate(const Progress& progress) const = 0;
  /// What of the dual weights the ball around the optimum needs, with the model's vectors; null: there is no such ball.
  virtual std::shared_ptr<const DualPoint> dual_point(const Progress& /*progress*/) const { return nullptr; }
  /// Of the rows that are kept.
  virtual double bytes() const { return 0; }
  /// add_all() of rows begin … begin + count − 1 of a problem whose rows are codes; the `x` of `rows` is filled in here.
  virtual void add_coded(const CodedRows& codes, std::int64_t begin, CheckedRow* rows, std::size_t count) {
    for (std::size_t k = 0; k < count; ++k) {
      rows[k].x = codes.row(begin + static_cast<std::int64_t>(k));
      add(rows[k]);
    }
  }
};

/// The check of this objective. `with_dual`: rows bring dual weights. Those of stumps prove nothing row by row: only a
/// training's certificate has an upper bound of theirs.
std::unique_ptr<Check> make_check(const Objective& objective, const ModelVectors& vectors, bool with_dual);

/// Row i of a problem, without a dual weight.
CheckedRow checked_row(const Problem& problem, std::int64_t i);

/// Whether there is a dual weight for every row and output.
bool has_dual_weights(const Problem& problem, const Weights& dual);

/// All rows of a problem, in their order, with their dual weights where there are any. `basis` (null: none): of the
/// model, for the size of the work between polls.
void add_rows(Check& check, const Problem& problem, const Weights& dual, const Basis* basis = nullptr,
              const Progress& progress = {});

/// gap and relative gap of a largest margin's interval.
void set_margin_gap(Certificate& certificate);

/// The same of a smallest objective's: 0 where weights that miss some target fall below `lower`, infinite without an upper end.
void set_minimum_gap(Certificate& certificate);

/// Columns of zeros to the right of a matrix, until it has that many.
void widen(Weights& matrix, Eigen::Index columns);

}  // namespace margin
