// The aggregate margin_hard_core: it collects rows as train_margin does (train/hard_core.hpp).
#include "core/train/hard_core.hpp"

#include "pg/functions/group_errors.hpp"
#include "pg/server/interrupts.hpp"
#include "pg/server/memory.hpp"
#include "pg/values/composite.hpp"

using namespace margin::pg;

namespace {
struct HardCoreCall {
  explicit HardCoreCall(FunctionCallInfo) {}
  GroupWarnings groups;
};
}  // namespace

MARGIN_FUNCTION(margin_hard_core_final) {
  GroupWarnings& groups = query_state<HardCoreCall>(fcinfo).groups;
  const std::optional<CollectedRows> rows = collected_rows(fcinfo, groups);
  if (!rows.has_value()) PG_RETURN_NULL();
  ThreadedProgress progress;
  std::vector<double> core;
  if (!attempt(*rows, groups, [&] { core = margin::hard_core(rows->data, progress, rows->memory); })) PG_RETURN_NULL();
  return float8_array(core.data(), core.size());
}
