// What the hard-margin solvers share: one pass over the rows for given weights, and the shape of their solutions.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <vector>

#include "core/base/progress.hpp"
#include "core/math/class_intercepts.hpp"
#include "core/solvers/interval.hpp"
#include "core/solvers/run.hpp"
#include "core/solvers/solver.hpp"

namespace margin {

/// A row together with the class it must beat.
struct Pair {
  std::int64_t row;
  std::int32_t own, rival;  ///< sorted class indices
};

/// The smallest margins that a pass saw.
struct PairMargins {
  Eigen::MatrixXd pair;  ///< (a, c): min over rows of class a of score_a − score_c, without intercepts
  Offsets best;          ///< exact best intercepts for these weights (zeros without intercept) and their margin
};

/// Computes `best` from `pair` for a problem with or without a free intercept.
void finish_smallest(const Problem& problem, PairMargins& s, Run& run);

/// Margins of `weights` on all rows. When `per_class` > 0, also the `per_class` pairs of smallest margin of each own
/// class, judged with the class offsets `offset` (one pair per row: its closest rival), ordered by row.
PairMargins scan(const Problem& problem, const Weights& weights, Run& run, std::size_t per_class = 0,
                 const Eigen::VectorXd* offset = nullptr, std::vector<Pair>* worst = nullptr);

/// Intercepts in the model's form (one per output) from class offsets.
Eigen::VectorXd intercept_of(const Problem& problem, const Eigen::VectorXd& class_offsets);

/// Bytes of one n × (1 or classes) matrix of dual weights.
double dual_bytes(const Problem& problem);

}  // namespace margin
