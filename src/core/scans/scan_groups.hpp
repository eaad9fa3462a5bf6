// The option `fairness` of a training by scans: two scans for each of its columns, which groups there are, and Σ c x of each.
#pragma once

#include "core/problem/fairness.hpp"
#include "core/scans/scan_problem.hpp"

namespace margin {

/// Of the rows that `first` answers `asked` about, both of which are kept. Throws Error(invalid_option) for a column whose features no row
/// has.
GroupedRows grouped_by_scans(const Question& asked, const Answer& first, ScanRun& run);

}  // namespace margin
