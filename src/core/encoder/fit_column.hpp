// What an encoder makes of the figures of a column, whoever counted them: the rows of a training, or a profile.
#pragma once

#include <string_view>
#include <vector>

#include "core/base/error.hpp"
#include "core/encoder/column.hpp"

namespace margin {

/// What to divide numbers by that have this mean and deviation: 1 where the deviation is 0 up to rounding.
double unit_for(double mean, double deviation);
/// Whether the numbers of a column are scaled.
bool standardized(const Column& column, const EncoderRules& rules);
/// Whether the option `bins` is about this column.
bool may_be_cut(const Column& column);
/// Into how many bins a column is cut; 0: it stays what it is.
std::int32_t bins_of(const Column& column, const Bins& bins);
/// Throws Error(invalid_option) where the option `bins` names what is no column of numbers.
void require_binned_columns(const std::vector<Column>& columns, const Bins& bins);
/// The units and the spread of a column of numbers by the means and the deviations of each, after missing ones had the mean;
/// `absent`: the share of the rows without a value.
void set_units(Column& column, const double* mean, const double* deviation, double absent, bool standardize);
/// The categories without an indicator: those that are asked for; beside an intercept without a penalty also the first of
/// every other column, of an enum in its order. Throws Error(invalid_option).
void choose_bases(std::vector<Column>& columns, const EncoderRules& rules);

/// Throws Error(invalid_option) where the options exclude or include a column that is not among `names`.
void require_named_columns(const EncoderRules& rules, const std::vector<std::string_view>& names);
/// Whether the options leave a column among the features.
bool is_feature(const EncoderRules& rules, std::string_view column);
/// Whether a column that they leave out is read all the same, for the option fairness.
bool is_grouping(const EncoderRules& rules, std::string_view column);
/// The same rules where there are no columns but those that are features or tell groups apart.
void keep_groupings(EncoderRules& rules);
/// Whether columns are to act together, named or searched: the rows have to be seen for it.
bool wants_pairs(const EncoderRules& rules);
/// The error for a column of more categories than `most`, or sets of more elements; `otherwise` ends its hint.
Error too_many_categories(const Column& column, std::int64_t most,
                          const std::string& otherwise = ", or raise the option max_categories.");
/// The error for columns of which none is left.
Error no_feature_left();

}  // namespace margin
