// From rows and options to a certified model: the one call that the glue makes.
#pragma once

#include "core/base/progress.hpp"
#include "core/model/model.hpp"
#include "core/solvers/solver.hpp"

namespace margin {

/// Builds the problem, chooses the solver, solves, certifies from the returned vectors. `memory_left` bounds the
/// solver's workspace (bytes; negative: no bound). Throws Error; whatever progress.poll() throws passes through.
Model train(const Dataset& data, const Options& options, const Progress& progress, double memory_left = -1);

}  // namespace margin
