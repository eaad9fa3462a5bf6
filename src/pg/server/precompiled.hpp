// The build includes this before every file of the glue, as it does core/base/precompiled.hpp before those of the core.

#include "core/base/precompiled.hpp"
#include "pg/server/postgres.hpp"
