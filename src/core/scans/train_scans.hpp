// From questions to a certified model: train() for rows that are somewhere else. It reads all rows a few times, and
// keeps a sample and the rows that matter in memory.
#pragma once

#include "core/base/memory_limit.hpp"
#include "core/model/model.hpp"
#include "core/problem/features.hpp"
#include "core/scans/row_source.hpp"

namespace margin {

/// Which trainings it takes.
extern const Consumer scan_training, one_class_scan_training;

/// What the first scan asks.
Question first_question(const Options& options, MemoryBudget memory);

/// Chooses a method, asks `source` as often as it needs to, certifies from the answers. The model is one of train(),
/// without dual weights, and without a calibration, which is for calibrate_scans() to make. `memory`: what the rows in
/// memory and the sums may take. Throws Error as train() does, and for options that need all rows in memory.
Model train_scans(RowSource& source, const Options& options, const Progress& progress, MemoryBudget memory = {});

/// train(), or, where rows are in a file and the solver that `auto` would take has no room for its workspace,
/// train_scans() of the file.
Model train_or_scan(const Dataset& rows, const Options& options, const Progress& progress, MemoryBudget memory);

}  // namespace margin
