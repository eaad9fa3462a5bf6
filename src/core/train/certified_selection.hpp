// The option `certified` of a cross-validation: a proof that no lambda of an interval has an error far below the best one's.
#pragma once

#include <cstdint>
#include <vector>

#include "core/problem/features.hpp"
#include "core/train/folds.hpp"
#include "core/train/path.hpp"

namespace margin {

/// Which trainings the option certified takes.
extern const Consumer certified_option;

/// Of options that come with `certified`. Throws Error(unsupported, invalid_option) for problems that there is no such proof of.
void require_certifiable(const SelectionOptions& options);

/// Trains at more and more lambdas of the interval, until the bounds between them prove what was asked for, or `max_trainings` are
/// reached; fills the settings, by falling lambda, and the certificate. `together`: folds may be at work
/// at the same time. Throws Error(unsupported) for more than two classes.
void certify_selection(const Dataset& data, const SelectionOptions& options, const FoldRows& rows, Selection& out,
                       bool together, const Progress& progress, MemoryBudget memory);

}  // namespace margin
