// Flows between classes as a circulation: by how much each must shrink so that what leaves a class is what enters it.
#pragma once

#include <optional>
#include <vector>

#include "core/base/progress.hpp"

namespace margin {

/// `flow` (k × k, ≥ 0, diagonal 0) as exact sums, `excess[c]` what leaves c less what enters it, within `error` of the
/// truth. Returns shares θ in [0, 1] (k × k): for whatever the true excess is, factors 1 − θ' with 0 ≤ θ' ≤ θ balance it.
/// Nothing where the flows are too small for that.
std::optional<std::vector<double>> balancing_shares(const std::vector<double>& flow, const std::vector<double>& excess,
                                                    double error, const Progress& progress);

}  // namespace margin
