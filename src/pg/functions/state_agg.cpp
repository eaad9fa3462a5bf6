// The aggregates margin_sum, of terms and of states, and margin_merge. Nothing is kept between calls but the state: some
// engines call each step through a fresh FmgrInfo.
#include <algorithm>

#include "core/base/memory_limit.hpp"
#include "core/scans/wire/sum_bytes.hpp"
#include "pg/server/interrupts.hpp"
#include "pg/server/memory.hpp"
#include "pg/values/scan_values.hpp"
#include "pg/values/state_object.hpp"

namespace margin::pg {
namespace {

/// A term of some bytes, which may be anybody's, has sums of as many features as it says.
void require_sums(const Term& t) {
  const double limit = memory_limit();
  if (limit < 0) return;
  const std::int32_t dimensions = std::max({t.form.dimensions, t.x.dimensions, reach(t.x)});
  const MemoryBudget left(limit);
  const double bytes = sum_bytes(t.form, dimensions);
  if (left.allows(bytes)) return;  // nothing is said of the other rows
  left.require(bytes, "margin_sum over rows of " + std::to_string(dimensions) + " features");
}

}  // namespace
}  // namespace margin::pg

using namespace margin::pg;

/// (margin_state, margin_term) -> margin_state
MARGIN_FUNCTION(margin_sum_step) {
  if (PG_ARGISNULL(1)) {
    if (PG_ARGISNULL(0)) PG_RETURN_NULL();
    return PG_GETARG_DATUM(0);
  }
  StateArgument<margin::Answer> state(fcinfo);
  InterruptProgress progress;
  progress.poll_at_row();  // a row may be long, and rows of one scan come in a single call of train_margin_from
  const margin::Term term = margin::read_trusted_term(scan_bytes(PG_GETARG_DATUM(1)).data());
  require_sums(term);
  state.state().add(term, progress);
  return state.result();
}

/// (margin_state, margin_state) -> margin_state
MARGIN_FUNCTION(margin_merge) {
  if (PG_ARGISNULL(1)) {
    if (PG_ARGISNULL(0)) PG_RETURN_NULL();
    return PG_GETARG_DATUM(0);
  }
  StateArgument<margin::Answer> state(fcinfo);
  InterruptProgress progress;
  merge_state(PG_GETARG_DATUM(1), state.state(), progress);
  return state.result();
}
