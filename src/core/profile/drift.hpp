// How the columns of a table have moved between two profiles: figures of drift, column by column.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/profile/profile.hpp"

namespace margin {

/// What is not defined is absent: all figures of a column that one of the profiles lacks, or has of another type.
struct ColumnDrift {
  std::string name;
  /// Of the shares of values in ten parts of equal size before (fewer where many values are equal), or of categories: the
  /// population stability index Σ (a − b) ln(a/b), each share counted as if half a row more were in every part; and the
  /// Jensen–Shannon distance, the root of the divergence in bits, from 0 to 1.
  std::optional<double> psi, jensen_shannon;
  /// Of numbers: the largest distance of the two distribution functions, and proven what it is off by at most.
  std::optional<double> kolmogorov_smirnov, rank_error;
  std::optional<double> mean_shift;                 ///< (mean after − mean before)/deviation before
  std::optional<double> nulls_before, nulls_after;  ///< shares of the rows
  std::optional<double> outside;  ///< share of the values after that no value before is as small, or large, as
  std::optional<double> unseen;   ///< share of the values after that no row had before; known of few values
};

/// By name, of all columns of both.
std::vector<ColumnDrift> drift(Profile& before, Profile& after, const Progress& progress = {});

}  // namespace margin
