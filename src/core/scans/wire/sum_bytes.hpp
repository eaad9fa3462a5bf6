// What the sums of an answer take, before there is one.
#pragma once

#include "core/scans/wire/answer.hpp"

namespace margin {

/// Bytes of the sums over rows of so many features.
inline double sum_bytes(const AnswerForm& form, std::int32_t dimensions) {
  const double columns = dimensions;
  const bool narrow = dimensions <= Answer::most_matrix_columns;
  return 16.0 * form.vectors * (!form.columns || narrow ? columns + 1 : 1) +
         (narrow ? 4.0 * form.matrices * columns * columns : 0);
}

}  // namespace margin
