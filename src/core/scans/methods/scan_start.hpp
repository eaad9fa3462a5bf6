// The option `initial` of a training by scans: a model to start from, in the units of its questions.
#pragma once

#include "core/scans/scan_problem.hpp"

namespace margin {

/// `asked`: the question of the first scan, which knows the columns in use. Throws Error(wrong_dimensions) for a model of other features
/// or classes, as train() does.
void take_initial(const ScanProblem& problem, const Question& asked, Options& options);

}  // namespace margin
