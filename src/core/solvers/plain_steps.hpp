// Options of the solvers of soft margins that others do not follow, who have one solve a part of their own problem.
#pragma once

#include "core/options/options.hpp"

namespace margin {

/// The steps, and what of them is returned, are those of the defaults.
inline void take_plain_steps(Options& s) {
  s.order = Order::permutation;
  s.output = Output::last;
  s.start = Start::zero;
  s.average_from.reset();
  s.gap_tolerance = 0;
  s.accelerated.reset();
  s.working_set.reset();
}

}  // namespace margin
