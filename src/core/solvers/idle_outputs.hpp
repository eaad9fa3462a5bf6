// Outputs of a soft margin that no solver has worked on: what they cost, and what they are left at when time is up.
#pragma once

#include <vector>

#include "core/solvers/run.hpp"
#include "core/solvers/solver.hpp"

namespace margin {

/// The mean loss of each output where every row has this score.
std::vector<double> risk_of_constant(const Problem& problem, double score, Run& run);

/// For the outputs from `first` on, which are 0: the score −1 everywhere, "no row is of this class", where that is the
/// better constant. At 0 they would win against every output that was trained.
void leave_idle(const Problem& problem, std::int32_t first, Solution& s, Run& run);

/// What solve_outputs() asks between outputs: one costs a pass over the rows before its first step.
inline auto time_is_up(const Run& run) {
  return [&run](Status& why) {
    why = Status::time_limit;
    return run.out_of_time();
  };
}

}  // namespace margin
