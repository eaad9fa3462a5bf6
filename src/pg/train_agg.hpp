// Rows that an aggregate collects to train on them: train_margin, margin_path, margin_cross_validate.
#pragma once

#include "boundary.hpp"

namespace margin::pg {

/// What the options of an aggregate say about its labels; throws Error for bad options.
using OutcomeOf = Dataset::Outcome (*)(Value::Object options);

/// The transition function: (state, label, features [, weight] [, options]). `weight_at` and `options_at` are argument
/// numbers, 0 for none.
Datum collect_row(FunctionCallInfo fcinfo, int weight_at, int options_at, OutcomeOf outcome_of);

/// What a final function works on.
struct CollectedRows {
  const Dataset& data;
  Value::Object options;
  std::int64_t skipped;
  double memory_left;  ///< of margin.memory_limit; negative: no limit
};

/// Nothing when there is no row to train on.
std::optional<CollectedRows> collected_rows(FunctionCallInfo fcinfo);

}  // namespace margin::pg
