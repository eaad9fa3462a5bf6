// From rows and options to a certified model: the one call that the glue makes.
#pragma once

#include "core/model/model.hpp"
#include "core/solvers/solver.hpp"

namespace margin {

/// Builds the problem, chooses the solver, solves, certifies from the returned vectors. `memory_left` bounds the
/// solver's workspace (bytes; negative: no bound). Throws Error; whatever monitor.poll() throws passes through.
Model train(const Dataset& data, const Options& options, Monitor& monitor, double memory_left = -1);

}  // namespace margin
