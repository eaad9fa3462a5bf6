// What EXPLAIN says of a plan.
#pragma once

#include "pg/server/postgres.hpp"

namespace margin::pg {

/// The JSON of EXPLAIN, in the current memory context; null for a plan without a node of an extension, as those that run it on other
/// servers have. Nothing is run. Only inside of backend().
const char* explained_plan(PlannedStmt* plan, const char* text);

}  // namespace margin::pg
