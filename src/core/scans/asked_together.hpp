// Several questions to the same rows: those that one term of a row can answer are asked as one, and what is asked of all but one
// fold after another is asked of each fold.
#pragma once

#include <vector>

#include "core/scans/row_source.hpp"

namespace margin {

/// The answers of one scan to all of them, in their order. Sums over vectors differ by their rounding from those of a question
/// that is asked alone. Throws what RowSource::ask_all() does.
std::vector<Answer> ask_together(RowSource& source, std::vector<Asked> questions, const Progress& progress);

}  // namespace margin
