// A column of a table as features: what it was read as, and what became of it.
#pragma once

#include <cstdint>
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
  sparse     ///< indices and values
};
std::string_view kind_name(ColumnKind kind);
/// The unit of a number that is a time; empty for the others.
std::string_view unit_of(ColumnKind kind);

/// Kinds whose cell is one number.
inline bool scalar(ColumnKind kind) { return kind < ColumnKind::category; }
inline bool block(ColumnKind kind) { return kind >= ColumnKind::dense; }

/// Features of a column, in this order: its number, its elements, or one per category that has one; then, where `missing`, an
/// indicator of rows without a value.
struct Column {
  std::string name;
  std::string type;  ///< the SQL type at the training, for messages
  ColumnKind kind = ColumnKind::number;
  bool missing = false;
  bool reference = false;                    ///< of categories: the first has no indicator, the others count against it
  std::vector<std::string> categories = {};  ///< sorted by bytes
  std::vector<double> fill = {}, center = {},
                      scale = {};  ///< per number: what stands for a missing one, x' = (x − center) · (1/scale)
  std::int32_t width = 0;          ///< of a block
  std::int32_t first = 0;          ///< number of its first feature, from 0

  std::int32_t values() const {
    if (scalar(kind)) return 1;
    return kind == ColumnKind::category ? static_cast<std::int32_t>(categories.size()) - without_indicator() : width;
  }
  std::int32_t without_indicator() const { return reference && !categories.empty() ? 1 : 0; }
  /// The category of its `value`-th indicator.
  const std::string& category(std::int32_t value) const {
    return categories[static_cast<std::size_t>(value + without_indicator())];
  }
  /// Not a number yet: `width` is what somebody stated. Encoders hold no column of too many.
  CheckedSize features() const { return CheckedSize(values()) + CheckedSize(missing ? 1 : 0); }
};

/// What a user says about rows as features.
struct EncoderRules {
  Missing missing = Missing::impute;
  bool standardize = true;
  bool unknown_is_error = false;  ///< a category that the training did not have; else it counts as none of them
  bool reference = false;         ///< beside an intercept without a penalty, one indicator of a column says nothing
  std::int32_t max_categories = 1000;
  std::vector<std::string> exclude = {};
  std::string offset = {};  ///< a column that stays in its own units
};

/// Columns are standardised unless the options say otherwise.
EncoderRules encoder_rules(const Options& options);
/// The first option given that only rows with named columns read; empty for none.
std::string_view option_of_rows(const Options& options);

}  // namespace margin
