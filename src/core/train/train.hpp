// From rows and options to a certified model: the one call that the glue makes.
#pragma once

#include "core/base/memory_limit.hpp"
#include "core/base/progress.hpp"
#include "core/model/model.hpp"
#include "core/solvers/solver.hpp"

namespace margin {

/// Builds the problem, chooses the solver, solves, certifies from the returned vectors. `memory`: what copies of
/// the rows and the solver's workspace may take. Throws Error; whatever progress.poll() throws passes through.
Model train(const Dataset& data, const Options& options, const Progress& progress, MemoryBudget memory = {});

}  // namespace margin
