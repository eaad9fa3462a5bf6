// Weights for rows that no plane separates: the hard margin's own answer, a hull that contains 0, classifies nothing.
#pragma once

#include "core/solvers/run.hpp"
#include "core/solvers/solver.hpp"

namespace margin {

/// Replaces weights and intercept of `proven`, a proof that nothing separates the rows of `problem`, by those of a soft
/// margin on the same rows: the logistic loss, with lambda and the intercept's scale in units of the rows, by whatever
/// `auto` picks. The proof (dual, status, history) stays. Where the soft margin does not fit in the memory or the
/// limits that are left (`run` counts `proven`), or has no weights to offer, `proven` comes back as it was.
/// `memory`: bytes that the caller still holds.
Solution with_soft_weights(const Problem& problem, const Options& options, const Progress& progress, const Run& run,
                           Solution proven, double memory);

}  // namespace margin
