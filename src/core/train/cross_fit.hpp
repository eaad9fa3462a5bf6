// The option `calibration`: every row is scored by a model that has not seen it, and a map from scores to probabilities
// is fitted per output.
//
// Folds: 5, each with a fifth of every class, drawn from the seed. A fold's model is trained by the same solver with
// the same options (without `initial`, which may have seen the held-out rows) on the same rows, of which the fold's
// own have weight 0: to all solvers that is a problem without them, and no row is copied. λ stays, as the objective is
// a mean. Class weights and the columns' statistics of `standardize` are those of all rows.
#pragma once

#include "core/base/progress.hpp"
#include "core/model/calibration.hpp"
#include "core/solvers/solver.hpp"

namespace margin {

/// Bytes that cross_fit allocates besides the solver's.
double calibration_workspace(const Problem& problem);

/// Throws Error when the problem cannot be calibrated: a class of fewer than two rows of positive weight, without which
/// some fold would know one side only.
void require_calibration(const Problem& problem);

/// `problem` is used up. Throws Error(invalid_value) when a held-out score overflows; what the progress throws passes.
Calibration cross_fit(Problem&& problem, const Solver& solver, const Options& options, const Progress& progress);

}  // namespace margin
