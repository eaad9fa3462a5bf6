// Where coordinate ascent starts: zero, one epoch of Modified-SGD, or a previous model.
#pragma once

#include "core/base/random.hpp"
#include "core/solvers/run.hpp"
#include "core/solvers/sdca/state.hpp"

namespace margin {

/// Set the duals and weights of the freshly started output `o` as the options say. A previous model (`initial`) wins
/// over `start`; its duals are used when it has one per row and output, otherwise a_i = −φ'(its score), scaled to the
/// best multiple. Throws Error(wrong_dimensions) when its weights do not fit the problem.
void start_from(const Options& options, std::int32_t o, SdcaState& state, Random& random, Run& run);

}  // namespace margin
