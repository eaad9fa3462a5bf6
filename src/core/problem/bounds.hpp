// The options `bounds`, `positive` and `monotone`: between which ends the weight of each feature lies.
//
// Users say bounds of a weight in their own units: of a column of numbers, how the score may change with one of its units. An encoder
// divides such a column by its `scale`, the option standardize by its deviation, and that of a regression its labels by
// theirs, so that bounds are multiplied by the first two and divided by the last before anything is solved; the weights are cut to
// the bounds once more where they are in the user's units again, so that no rounding leaves them outside.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/matrix.hpp"
#include "core/encoder/encoder.hpp"
#include "core/options/options.hpp"
#include "core/problem/statement.hpp"

namespace margin {

struct Problem;  // problem/problem.hpp

constexpr std::int32_t most_named = 1 << 20;    // a sparse column declares any number of features
inline constexpr const char* all_others = "*";  // the key of the features that no other key names

/// Columns that the options name become features of the encoder, in its units. Throws Error(invalid_option) for a name that is no
/// column, feature nor number, and for a monotone column that is no number.
void name_bounds(Options& options, const Encoder& encoder);
/// The feature of a pair or a column that is called `key`; −1 for none.
std::int32_t feature_called(const std::string& key, const Encoder& encoder);

/// The features that a key of `option` means: those of the values of a column, those of a pair, or the one of that name or number.
std::vector<std::int32_t> features_named(const char* option, const std::string& key, const Encoder& encoder);
/// The feature of a key that is a number.
std::int64_t numbered(const char* option, const std::string& key, std::int32_t features);

/// Whether the options ask for any.
bool has_bounds(const Options& options);

/// The bounds of `columns` (0-based features, ascending; null: all) of rows with `features` features, and of all features beyond;
/// none without the options. Throws Error(invalid_option): a list of another length, a feature that the rows do not have, a name,
/// bounds that leave no weight; limit_exceeded: more features than a list of them may have.
Bounds weight_bounds(const Options& options, std::int32_t features, const std::vector<std::int32_t>* columns = nullptr);

/// The features whose weights may not be 0, ascending; nothing where those that no key names may not.
std::optional<std::vector<std::int32_t>> weights_off_zero(const Options& options, std::int32_t features);

/// Throws Error(unsupported) where there is no dual with bounds of weights, or no weights: hard margins, kernels, lambda 0, classes jointly.
void require_bounds_fit(const Problem& problem, const Options& options);
/// The same of another option that says where weights may be.
void require_held_weights(const Problem& problem, const Options& options, const std::string& option);

/// Options of the columns `columns`, as a list in place of names and signs.
void list_bounds(Options& options, std::int32_t features, const std::vector<std::int32_t>* columns);

}  // namespace margin
