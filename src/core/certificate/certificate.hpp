// The proof that goes with every model, computed from (problem, primal vector, dual vector) and the rows alone. It
// knows no solver, and it is true for any pair of vectors by weak duality, converged or not.
#pragma once

#include <limits>

#include "core/base/progress.hpp"
#include "core/problem/problem.hpp"

namespace margin {

/// lower ≤ optimum ≤ upper. The optimum is the largest margin, which the model attains from below, so that `lower` is its
/// own; or the least risk (soft margin) or ½‖w‖_p² (interpolation), where `upper` is the model's own and `lower` the dual
/// value.
struct Certificate {
  double lower = 0, upper = 0;
  double gap = 0;            ///< ≥ 0: the width of the interval
  double relative_gap = 0;   ///< of `upper`; soft margin: of the larger of |lower| and |upper|
  std::int64_t support = 0;  ///< rows with a non-zero dual weight
  double radius = 0;         ///< largest ‖x_i‖
  std::int64_t errors = 0;   ///< hard margin: rows with a margin ≤ 0
  double slack = 0;          ///< interpolation: how far inside of its interval the worst row is (negative: outside)

  /// Not proven but counted, for a warning. `failure`: the mean loss of a regression, the weight of the rows that are
  /// predicted wrongly otherwise. train() adds the same of the best constant prediction.
  double failure = 0, constant_failure = std::numeric_limits<double>::infinity();
};

/// Columns of zeros to the right of a matrix, until it has that many.
void widen(Weights& matrix, Eigen::Index columns);

/// The hard-margin check, row by row: O(classes × d) memory, mergeable, so that the same code certifies a training
/// and verifies a stored model over a table. Ends are widened by a bound on the rounding of this very computation.
class MarginCheck {
 public:
  /// `weights` and `intercept` (per output; null: none) are kept by reference. `free_intercept`: the upper end is
  /// that of the problem with an intercept.
  MarginCheck(std::int32_t classes, std::int32_t dimensions, const double* weights, const double* intercept,
              bool free_intercept, bool with_dual);

  /// One row of sorted class `label`; `q` is its dual weight (binary) or `classes` of them, null for none.
  void add(const Row& x, std::int32_t label, const double* q);
  void merge(const MarginCheck& other);
  /// There are `dimensions` columns now, and outputs × `dimensions` weights (0 for the new ones), kept by reference.
  void widen(std::int32_t dimensions, const double* weights);

  std::int64_t rows() const { return rows_; }
  std::int64_t support() const { return support_; }
  /// max_i ‖x_i‖, rounded up.
  double radius() const { return radius_ * (1 + std::numeric_limits<double>::epsilon() * (dimensions_ + 4.0)); }
  std::int64_t errors() const { return errors_; }      ///< rows with a margin ≤ 0
  double smallest_score() const { return smallest_; }  ///< min_i (s_y − max_{c≠y} s_c), not divided by ‖w‖
  /// min_i margin_i / ‖weights‖, rounded down (any weights ≠ 0; −∞ for no rows, 0 for zero weights).
  double lower() const;
  /// ‖Σ q z‖ / Σ q, rounded up; +∞ when no dual weights were given or they do not satisfy the constraint of a free
  /// intercept (Σ q (e_y − e_c) = 0) to rounding.
  double upper() const;

  /// State for (de)serialisation between parallel workers: sums without the dual part.
  struct Counters {
    std::int64_t rows, errors;
    double smallest, radius;
  };
  Counters counters() const { return {rows_, errors_, smallest_, radius_}; }
  void merge(const Counters& c);

 private:
  std::int32_t classes_, dimensions_, outputs_;
  const double* weights_;
  const double* intercept_;
  bool free_intercept_, with_dual_;
  std::int64_t rows_ = 0, support_ = 0, errors_ = 0;
  double smallest_, radius_ = 0;
  std::vector<double> scores_;
  // Binary: one sum and one mass per class. Multiclass: one sum and one imbalance per class, one mass.
  Weights sums_;
  std::vector<double> mass_, balance_;
};

/// Recompute both ends from the returned vectors, with passes over the rows of their own.
Certificate certify(const Problem& problem, const Weights& weights, const Eigen::VectorXd& intercept,
                    const Weights& dual, const Progress& progress = {});

}  // namespace margin
