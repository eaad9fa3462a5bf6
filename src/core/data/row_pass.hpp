// What a pass over the rows of a data set needs to run on several threads.
#pragma once

#include <algorithm>

#include "core/base/threads.hpp"
#include "core/data/dataset.hpp"

namespace margin {

/// Those of the call; for rows in a file the caller's alone, whose polls keep the file out of memory.
inline Threads& pass_threads(const Dataset& data, const Progress& progress) {
  return data.spilled() ? Threads::single() : progress.threads();
}

/// The numbers that a row has stored, on average.
inline double stored_numbers(const Dataset& data) {
  return std::max(1.0, data.density() * static_cast<double>(data.dimensions()));
}

}  // namespace margin
