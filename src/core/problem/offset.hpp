// The option `offset_feature`: a feature whose weight is known to be 1. It adds its value to every score, takes part in
// no penalty and is never scaled; models keep it among their weights, so that whoever scores a row needs to know nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/matrix.hpp"
#include "core/data/row.hpp"
#include "core/encoder/encoder.hpp"
#include "core/options/options.hpp"

namespace margin {

struct Problem;  // problem/problem.hpp

/// A column that the option names becomes a feature of the encoder. Throws Error: invalid_option for a name that is no
/// column or one that is not a single number, null_value for a column with missing values.
void name_offset(Options& options, const Encoder& encoder);

/// The 0-based feature of the option among `columns` (ascending; null: all) of rows with `features` features; −1: none.
/// Throws Error(invalid_option): a feature that the rows do not have, a name.
std::int32_t offset_feature(const Options& options, std::int32_t features,
                            const std::vector<std::int32_t>* columns = nullptr);

/// The value of a feature; 0 for −1, which is none.
double offset_of(const Row& x, std::int32_t feature);

/// Gives the offset's weight, in every output, its value, and cuts the others to their bounds: of weights of 0, or that a rounding
/// has moved.
void hold_offset(const Problem& problem, Weights& weights);
/// The same for the weights of one output, or of a model to start from.
void hold_offset(const Problem& problem, std::vector<double>& weights);

/// Throws Error(unsupported) where an offset means nothing: hard margins, kernels, more than two classes.
void require_offset_fits(const Problem& problem);

}  // namespace margin
