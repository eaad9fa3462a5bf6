// Coordinate ascent for as long as it is worth it: what `auto` asks of sdca.
#pragma once

#include <functional>

#include "core/solvers/solver.hpp"

namespace margin {

/// Where the ascent of an output stands after an epoch.
struct AscentSoFar {
  double epochs = 0;
  double gap = 0;   ///< as the last epoch promises it
  double size = 0;  ///< P, of the best weights so far
};

/// sdca, asked after every epoch of an output whether to go on; the output of the first `false` is the last one, and
/// those after it are left as they would be when time is up.
Solution ascend_while(const Problem& problem, const Options& options, const Progress& progress,
                      const std::function<bool(const AscentSoFar&)>& goes_on);

}  // namespace margin
