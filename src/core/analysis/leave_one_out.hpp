// Leave-one-out: how many rows a soft margin would predict wrongly if each had been left out of its training, proven from
// one training (consequences/left_out/left_out.hpp), and exact by trainings without the rows that it leaves undecided.
#pragma once

#include "core/base/memory_limit.hpp"
#include "core/base/progress.hpp"
#include "core/model/model.hpp"

namespace margin {

struct LeaveOneOutOptions {
  bool refit = false;  ///< train again without the rows that are undecided
};
/// Throws Error(invalid_option).
LeaveOneOutOptions parse_leave_one_out(const Value::Object& options);

struct LeaveOneOut {
  std::int64_t rows = 0;              ///< of a weight above 0
  std::int64_t errors = 0;            ///< of the training with all rows
  std::int64_t lower = 0, upper = 0;  ///< of the rows left out, at least and at most
  std::int64_t undecided = 0;         ///< upper − lower
  std::int64_t refitted = 0;
};

/// Throws Error(unsupported) for models that there is no such proof of. Before anything is read.
void require_leave_one_out(const Model& model, const Options& settings);

/// `data`: the rows of the training, with the model's classes; `settings`: its options. The training starts from the
/// model's weights.
LeaveOneOut leave_one_out(const Dataset& data, const Model& model, const Options& settings,
                          const LeaveOneOutOptions& options, const Progress& progress, MemoryBudget memory = {});

}  // namespace margin
