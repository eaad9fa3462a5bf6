// The encoder of rows of which a profile is all that is known.
#pragma once

#include <memory>
#include <string>

#include "core/encoder/encoder.hpp"
#include "core/profile/profile.hpp"

namespace margin {

/// As RowTable::fit() makes it of the rows, each of weight 1, up to the rounding of sums; bins by the sketch where a number has more
/// than 1024 different values. `label`: a column that is none of the features, whose deviation is the unit of a regression with
/// `targets`; empty for none. Throws Error: invalid_option (a column or category that there is not), wrong_type (a column
/// that cannot be a feature), invalid_value (more categories than max_categories, or than a profile knows; numbers
/// that are not finite), null_value, unsupported (what a profile does not tell).
std::unique_ptr<const Encoder> encoder_of(Profile& profile, EncoderRules rules, const std::string& label, bool targets,
                                          const Progress& progress);

}  // namespace margin
