// The weight of a row, as training functions take it.
#pragma once

#include "pg/server/boundary.hpp"

namespace margin::pg {

/// The argument `number`, a double precision. Throws Error: null_value, invalid_value (negative or not finite).
double row_weight(FunctionCallInfo fcinfo, int number);

}  // namespace margin::pg
