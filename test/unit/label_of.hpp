// Tables of numbers as rows of either kind of outcome.
#pragma once

#include "core/data/dataset.hpp"

namespace margin::testing {

/// `y` as the label of a row: the index of a class, or a target.
inline Label label_of(const Dataset& data, double y) {
  if (data.outcome() == Dataset::Outcome::classes) return static_cast<std::int32_t>(y);
  return y;
}

}  // namespace margin::testing
