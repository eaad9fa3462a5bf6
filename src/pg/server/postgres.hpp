// The only door to PostgreSQL's headers. Everything of the core and the standard library that the glue uses comes
// first: postgres.h redefines names such as snprintf, and the core refuses to be seen after it.
#pragma once

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory_resource>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/threads.hpp"
#include "core/data/feature_hash.hpp"
#include "core/data/fourier_features.hpp"
#include "core/data/pgvector_layout.hpp"
#include "core/data/sparse_text.hpp"
#include "core/encoder/row_table.hpp"
#include "core/kernel/support_vectors.hpp"
#include "core/loss/loss.hpp"
#include "core/metrics/metrics.hpp"
#include "core/model/probability.hpp"
#include "core/problem/target_units.hpp"
#include "core/profile/profile.hpp"
#include "core/scans/row_terms.hpp"
#include "core/scans/wire/answer.hpp"
#include "core/train/train.hpp"

extern "C" {
// clang-format off: before any other header of the server
#include <postgres.h>
// clang-format on
#include <access/htup_details.h>
#include <access/xact.h>
#include <catalog/dependency.h>
#include <catalog/pg_enum.h>
#include <catalog/pg_proc.h>
#include <catalog/pg_type.h>
#include <commands/extension.h>
#include <common/hashfn.h>
#include <executor/spi.h>
#include <fmgr.h>
#include <foreign/foreign.h>
#include <funcapi.h>
#include <mb/pg_wchar.h>
#include <miscadmin.h>
#include <nodes/execnodes.h>
#include <nodes/primnodes.h>
#include <utils/array.h>
#include <utils/builtins.h>
#include <utils/catcache.h>
#include <utils/date.h>
#include <utils/datum.h>
#include <utils/expandeddatum.h>
#include <utils/fmgroids.h>
#include <utils/guc.h>
#include <utils/jsonb.h>
#include <utils/lsyscache.h>
#include <utils/memutils.h>
#include <utils/numeric.h>
#include <utils/plancache.h>
#include <utils/rangetypes.h>
#include <utils/resowner.h>
#include <utils/syscache.h>
#include <utils/timestamp.h>
#include <utils/tuplestore.h>
#include <utils/typcache.h>
#include <utils/uuid.h>

#include "pg/server/gucs.h"
}

#if PG_VERSION_NUM < 140000 || PG_VERSION_NUM >= 200000
#error "margin supports PostgreSQL 14 to 19"
#endif

#if PG_VERSION_NUM >= 160000
extern "C" {
#include <varatt.h>
}
#endif

/// The text of a node of the kind String. Before 15 the macro names a type of the server's, Value, which in our namespace is another.
inline const char* text_of_string_node(const void* node) { return strVal(node); }
