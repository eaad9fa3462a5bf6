// What the sums of an answer take, before there is one.
#pragma once

#include "core/scans/wire/answer.hpp"

namespace margin {

/// Bytes of the sums over rows of so many features.
inline double sum_bytes(const AnswerForm& form, std::int32_t dimensions) {
  const double columns = dimensions;
  const bool narrow = dimensions <= Answer::most_matrix_columns;
  return (!form.columns || narrow ? 16.0 * form.vectors * columns : 0) +
         (narrow ? 4.0 * form.matrices * columns * columns : 0);
}

}  // namespace margin
