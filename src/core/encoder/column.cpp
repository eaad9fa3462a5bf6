#include "core/encoder/column.hpp"

#include <algorithm>

#include "core/base/error.hpp"

namespace margin {

std::string_view kind_name(ColumnKind kind) {
  static constexpr std::string_view names[] = {"number",   "boolean", "date",   "interval", "time",
                                               "category", "dense",   "sparse", "set"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view unit_of(ColumnKind kind) {
  if (kind == ColumnKind::date) return "days since 1970-01-01";
  if (kind == ColumnKind::interval) return "days";
  return kind == ColumnKind::time ? "hours" : "";
}

void refuse_missing(const Column& c, Missing missing, bool known) {
  if (missing == Missing::skip || c.grouping) return;
  if (c.offset)
    throw Error(ErrorKind::null_value, "column \"" + c.name + "\" is NULL, and it is the offset of the model",
                "An offset, such as the logarithm of an exposure, is part of every prediction, and no mean stands for "
                "it: give it, or leave such rows out, with margin_options(missing => 'skip') for example.");
  if (missing == Missing::error)
    throw Error(ErrorKind::null_value, "column \"" + c.name + "\" is NULL, and the option \"missing\" is 'error'",
                "With margin_options(missing => 'impute') its mean stands for it, with 'skip' the row is left out.");
  if (missing == Missing::as_trained && !known)
    throw Error(ErrorKind::null_value, "column \"" + c.name + "\" is NULL, which it never was in the training",
                "Give its value; from jsonb, look for a misspelt key. A model trained with margin_options(missing => "
                "'impute') takes the mean for it, one with 'skip' gives NULL.");
}

EncoderRules encoder_rules(const Options& options) {
  const bool given = std::find(options.given.begin(), options.given.end(), "standardize") != options.given.end();
  if (!options.include.empty() && !options.exclude.empty())
    throw Error(ErrorKind::invalid_option, "the options \"include\" and \"exclude\" are mutually exclusive",
                "Name the columns that are features with include, or those that are none with exclude.");
  if (options.drop_collinear && options.lambda != 0.0)
    throw Error(
        ErrorKind::invalid_option, "option \"collinear\" is 'drop', and lambda is not 0",
        "With a lambda above 0 collinear features share their weight, and the optimum is unique: leave it out.");
  EncoderRules rules{options.missing,          options.standardize || !given,
                     options.unknown_is_error, options.lambda == 0.0 && options.intercept,
                     options.max_categories,   options.bins,
                     options.exclude,          options.offset};
  rules.include = options.include;
  rules.references = options.reference;
  rules.drop_collinear = options.drop_collinear;
  rules.intercept = options.intercept;
  rules.interactions = options.interactions;
  for (const Fairness& f : options.fairness) rules.groupings.push_back(f.column);
  return rules;
}

std::string_view option_of_rows(const Options& options) {
  for (const std::string_view name : options.given)
    if (name == "exclude" || name == "include" || name == "reference" || name == "collinear" || name == "missing" ||
        name == "unknown_features" || name == "max_categories" || name == "bins" || name == "interactions")
      return name;
  return {};
}

}  // namespace margin
