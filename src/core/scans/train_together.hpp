// Several trainings by scans, side by side: each scan asks what all of them want to know next.
#pragma once

#include <vector>

#include "core/scans/train_scans.hpp"

namespace margin {

/// Trainings that share a scan.
constexpr std::size_t most_together = 50;

/// One of them: on all rows, or on those of some folds.
struct Training {
  Options settings;
  FoldPart part = {};
};

/// The models of train_scans() for each training, in their order. It takes as many scans as the longest of `most_together`
/// trainings alone, so many at a time. Throws Error as train_scans() does.
std::vector<Model> train_together(RowSource& source, const std::vector<Training>& trainings, const Progress& progress,
                                  MemoryBudget memory = {});

}  // namespace margin
