// A column of a table as features: what it was read as, and what became of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/checked_size.hpp"
#include "core/options/options.hpp"

namespace margin {

/// What the values of a column are.
enum class ColumnKind {
  number,
  boolean,   ///< 0 and 1
  date,      ///< days since 1970-01-01
  interval,  ///< days
  time,      ///< of a day, in hours
  category,  ///< text: one indicator per category
  dense,     ///< an array of numbers, of one length
  sparse,    ///< indices and values
  set        ///< of texts, any number of them: one indicator per element
};
std::string_view kind_name(ColumnKind kind);
/// The unit of a number that is a time; empty for the others.
std::string_view unit_of(ColumnKind kind);

/// Kinds whose cell is one number.
inline bool scalar(ColumnKind kind) { return kind < ColumnKind::category; }
inline bool block(ColumnKind kind) { return kind >= ColumnKind::dense; }
/// Kinds with an indicator for each text of the training.
inline bool listed(ColumnKind kind) { return kind == ColumnKind::category || kind == ColumnKind::set; }

/// How the values of a column are spread over the rows of the training, by their weights: an explanation counts from
/// their mean, whatever the column is coded as.
struct ColumnSpread {
  double missing = 0;  ///< share of the rows without a value
  /// Of categories, and of the elements of sets: the share of each; of bins: of the rows above each threshold, missing ones imputed; of a sparse block: of the
  /// features in `at`.
  std::vector<double> mean = {};
  std::vector<double> deviation =
      {};  ///< of numbers that are not cut after missing ones were imputed, and of the features in `at`
  std::vector<std::int32_t> at = {};  ///< features of a sparse block that are not 0 in every row, ascending
};

/// Features of a column, in this order: its number, or where it is cut into bins one per threshold, 1 above it; its elements; or
/// one per category that has one, or element of sets; then, where `missing`, an indicator of rows without a value.
struct Column {
  std::string name;
  std::string type;  ///< the SQL type at the training, for messages
  ColumnKind kind = ColumnKind::number;
  bool missing = false;
  std::int32_t base = -1;  ///< the category without an indicator, against which the others count; −1: none
  std::vector<std::string> categories = {};  ///< sorted by bytes; of sets their elements
  std::vector<double> fill = {}, center = {},
                      scale = {};       ///< per number: what stands for a missing one, x' = (x − center) · (1/scale)
  std::vector<double> thresholds = {};  ///< of a number that is cut into bins, ascending: no center and scale
  std::int32_t width = 0;               ///< of a block of numbers
  bool offset = false;                  ///< part of every score as it is, never imputed
  bool grouping = false;                ///< tells groups apart and has no weight: predictions do without it
  std::optional<ColumnSpread> spread = {};  ///< absent in encoders that were stored without
  std::vector<std::string> order = {};      ///< of an enum in a training: its labels
  std::int32_t first = 0;  ///< number of its first feature, from 0, where none were dropped (Encoder::feature_of)

  std::int32_t values() const {
    if (binned()) return static_cast<std::int32_t>(thresholds.size());
    if (scalar(kind)) return 1;
    return listed(kind) ? static_cast<std::int32_t>(categories.size()) - (base >= 0 ? 1 : 0) : width;
  }
  /// The number of the category that the `value`-th indicator tells, and the other way round: −1 for the base, and for −1.
  std::int32_t category_of(std::int32_t value) const { return base >= 0 && value >= base ? value + 1 : value; }
  std::int32_t indicator_of(std::int32_t category) const {
    return base < 0 || category < base ? category : category == base ? -1 : category - 1;
  }
  bool binned() const { return !thresholds.empty(); }
  /// How many thresholds a number is above: those of its features that are 1.
  std::int32_t bin(double number) const {
    return static_cast<std::int32_t>(std::lower_bound(thresholds.begin(), thresholds.end(), number) -
                                     thresholds.begin());
  }
  /// The features of a number above so many thresholds, which is there.
  std::vector<double> features_of_bin(std::int32_t above) const {
    std::vector<double> out(static_cast<std::size_t>(values()) + (missing ? 1 : 0), 0.0);
    std::fill_n(out.begin(), above, 1.0);
    return out;
  }
  /// The category of its `value`-th indicator.
  const std::string& category(std::int32_t value) const {
    return categories[static_cast<std::size_t>(category_of(value))];
  }
  /// Not a number yet: `width` is what somebody stated. Encoders hold no column of too many.
  CheckedSize features() const { return CheckedSize(values()) + CheckedSize(missing ? 1 : 0); }
};

/// What a user says about rows as features.
struct EncoderRules {
  Missing missing = Missing::as_trained;
  bool standardize = true;
  bool unknown_is_error = true;  ///< a category that the training did not have; else it counts as none of them
  bool reference = false;        ///< beside an intercept without a penalty, one indicator of a column says nothing
  std::int32_t max_categories = 1000;  ///< and elements of sets
  Bins bins = {};
  std::vector<std::string> exclude = {};
  std::string offset = {};                             ///< a column that stays in its own units
  std::vector<std::string> include = {};               ///< empty: all
  std::map<std::string, std::string> references = {};  ///< of single columns: the category without an indicator
  bool drop_collinear = false;                         ///< beside an intercept without a penalty, or none
  bool intercept = true;
  Interactions interactions = {};
  std::vector<std::string> groupings =
      {};  ///< columns of the option fairness, which are read though they may be excluded
};

/// Columns are standardised unless the options say otherwise. Throws Error(invalid_option) for options that exclude each
/// other.
EncoderRules encoder_rules(const Options& options);
/// Throws Error(null_value) where a missing value of the column is to be an error. `known`: it may be missing.
void refuse_missing(const Column& column, Missing missing, bool known);
/// The first option given that only rows with named columns read; empty for none.
std::string_view option_of_rows(const Options& options);

}  // namespace margin
