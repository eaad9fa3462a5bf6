// Texts that functions are called with.
#pragma once

#include <string>
#include <vector>

#include "pg/server/postgres.hpp"

namespace margin::pg {

std::string text_from(Datum datum);

/// The argument feature_names of margin_pmml and margin_from_pmml: the elements of a text[] that is not NULL. Throws Error: wrong_dimensions (none, or more than one dimension), null_value.
std::vector<std::string> feature_names(Datum array);

}  // namespace margin::pg
