// A margin_selection of what a cross-validation found.
#pragma once

#include "core/train/path.hpp"
#include "pg/server/boundary.hpp"

namespace margin::pg {

struct RowCounts {
  std::int64_t rows, skipped;
};

/// The value of the function that runs. `given`: the options that the best ones are made of, with the pairs of columns by name.
Datum selection_datum(FunctionCallInfo fcinfo, const Selection& selection, const SelectionOptions& options,
                      RowCounts counts, const Value::Object& given);

}  // namespace margin::pg
