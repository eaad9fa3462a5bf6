// The option `calibration` by scans: the folds are a column of the rows, and the trainings that hold them out share the scans
// of the model's own.
#pragma once

#include "core/base/memory_limit.hpp"
#include "core/scans/row_source.hpp"

namespace margin {

/// The models of train_scans() for each of the settings, which have the same calibration, with the maps that it asks for: fitted
/// to scores of rows by models that were trained without their fold, which are measured in one more scan. `given`: the options
/// as JSON, which the models are judged with; `encoder`: of rows with named columns, else null. Throws Error: invalid_value (fewer
/// than two folds, a fold whose training rows lack a class, a score that overflows), unsupported (more classes than a sum
/// has room for), and as train_scans() does.
std::vector<Model> calibrate_scans(RowSource& source, const std::vector<Options>& settings, const Value::Object& given,
                                   const std::shared_ptr<const Encoder>& encoder, const Progress& progress,
                                   MemoryBudget memory = {});

}  // namespace margin
