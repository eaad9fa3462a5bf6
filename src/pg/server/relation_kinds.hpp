// RELKIND_...: what kind of relation a table is. The headers of PostgreSQL 15 bring it along, those of 14 do not.
#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include <catalog/pg_class.h>
}
