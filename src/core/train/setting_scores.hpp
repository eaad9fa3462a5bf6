// What the folds of a cross-validation say of its settings.
#pragma once

#include <cstddef>
#include <optional>

#include "core/train/path.hpp"

namespace margin {

/// Mean and deviation of the folds that have a value.
void summarize(SettingScore& setting);

/// Selection::best.
std::optional<std::size_t> best_of(const Selection& selection);

/// The largest lambda, of the settings that differ from the best in nothing else, whose mean is no worse than the best
/// one's by more than its standard error over the folds.
std::optional<std::size_t> within_one_standard_error(const Selection& selection);

}  // namespace margin
