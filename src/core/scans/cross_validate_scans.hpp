// Cross-validation by scans: the folds are a column of the rows, and all trainings share their scans.
#pragma once

#include "core/base/memory_limit.hpp"
#include "core/scans/row_source.hpp"
#include "core/train/path.hpp"

namespace margin {

// Models that are judged in one scan: each has an aggregate of its own.
constexpr std::size_t most_judged = 400;

/// Throws Error(invalid_value) for fewer than 2 folds, or more than there may be.
void require_folds(std::int32_t folds);
/// Throws Error(invalid_value) for a class that some of these models know and others do not.
void require_every_class(const std::vector<Model>& models);

struct ScannedSelection {
  Selection selection;
  std::int64_t rows = 0, skipped = 0;
};

/// Every setting of the lists trained without each fold by scans (train_together.hpp), and measured on the fold: one more scan for
/// all of them. `given`: the options as JSON, which the models are judged with; `encoder`: of rows with named columns, else null. Throws Error: invalid_option (without lambdas),
/// invalid_value (fewer than two folds, a fold whose training rows lack a class), unsupported (certified, predictions), and as
/// train_scans() does.
ScannedSelection cross_validate_scans(RowSource& source, const SelectionOptions& options, const Value::Object& given,
                                      const std::shared_ptr<const Encoder>& encoder, const Progress& progress,
                                      MemoryBudget memory = {});

}  // namespace margin
