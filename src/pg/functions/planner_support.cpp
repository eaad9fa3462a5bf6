// The planner support function of what predicts. It has no advice of its own: that the server calls it has the library
// loaded before tables are looked at, so that the first query of a session is planned as any other (server/planner.cpp).
#include "pg/server/boundary.hpp"

MARGIN_FUNCTION(margin_planner_support) { return Datum{0}; }
