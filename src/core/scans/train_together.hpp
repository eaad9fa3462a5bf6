// Several trainings by scans, side by side: each scan asks what all of them want to know next.
#pragma once

#include <vector>

#include "core/scans/train_scans.hpp"

namespace margin {

/// Trainings that share a scan, and what they may hold in memory.
constexpr std::size_t most_together = 50;

/// The models of train_scans() for each of the settings, in their order. With few settings it takes as many scans as the longest
/// of these trainings alone; `most_together` at a time. Throws Error as train_scans() does.
std::vector<Model> train_together(RowSource& source, const std::vector<Options>& settings, const Progress& progress,
                                  MemoryBudget memory = {});

}  // namespace margin
