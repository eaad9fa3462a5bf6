// The option `penalty_factor`: by what the penalty of each feature's weight is multiplied.
#pragma once

#include <cstdint>
#include <vector>

#include "core/encoder/encoder.hpp"
#include "core/options/options.hpp"

namespace margin {

/// The 0-based feature that a key numbers from 1; −1: it is no number.
std::int64_t feature_number(const std::string& key);

/// Columns that the option names become features of the encoder: a column of text gives its factor to each of its
/// categories. Throws Error(invalid_option) for a name that is no column of it and no number.
void name_penalties(Options& options, const Encoder& encoder);

/// The factors of `columns` (0-based features, ascending; null: all) of rows with `features` features; empty: 1 each.
/// Throws Error(invalid_option): a list of another length, a feature that the rows do not have, a name.
std::vector<double> penalty_factors(const Options& options, std::int32_t features,
                                    const std::vector<std::int32_t>* columns = nullptr);

/// The smallest factor that any feature has; 1 without the option.
double least_penalty_factor(const Options& options);

}  // namespace margin
