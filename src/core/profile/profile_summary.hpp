// A profile as a table: one line for each column, and for each element of arrays.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/profile/profile.hpp"

namespace margin {

struct ColumnSummary {
  struct Value {
    std::variant<double, std::string> value;
    std::int64_t count;  ///< of rows, at least
  };
  std::string name, type;
  std::optional<ColumnKind> kind;
  std::int64_t count = 0, nulls = 0, nan = 0, infinite = 0;
  std::optional<double> mean, stddev, least, largest;  ///< of the finite numbers; stddev of two and more
  std::vector<double> quantiles;                       ///< one for each share that was asked for, or none
  std::optional<double> rank_error;      ///< proven: the share of the values by which they are off at most
  std::optional<std::int64_t> distinct;  ///< where that is known
  /// The most frequent first; where not all are known, those whose counts are, up to a factor of two.
  std::vector<Value> top;
  std::optional<std::int64_t> missed;  ///< by how much the counts of `top` may be too small
};

/// `shares`: of quantiles, from 0 to 1. `top`: so many values at most.
std::vector<ColumnSummary> summaries(Profile& profile, const std::vector<double>& shares, std::size_t top,
                                     const Progress& progress = {});

}  // namespace margin
