// The aggregates margin_sum, of terms and of states, and margin_merge. Nothing is kept between calls but the state: some
// engines call each step through a fresh FmgrInfo.
#include "pg/server/interrupts.hpp"
#include "pg/values/scan_values.hpp"
#include "pg/values/state_object.hpp"

using namespace margin::pg;

/// (margin_state, margin_term) -> margin_state
MARGIN_FUNCTION(margin_sum_step) {
  if (PG_ARGISNULL(1)) {
    if (PG_ARGISNULL(0)) PG_RETURN_NULL();
    return PG_GETARG_DATUM(0);
  }
  StateArgument state(fcinfo);
  InterruptProgress progress;
  state.answer().add(margin::read_trusted_term(scan_bytes(PG_GETARG_DATUM(1)).data()), progress);
  return state.result();
}

/// (margin_state, margin_state) -> margin_state
MARGIN_FUNCTION(margin_merge) {
  if (PG_ARGISNULL(1)) {
    if (PG_ARGISNULL(0)) PG_RETURN_NULL();
    return PG_GETARG_DATUM(0);
  }
  StateArgument state(fcinfo);
  InterruptProgress progress;
  merge_state(PG_GETARG_DATUM(1), state.answer(), progress);
  return state.result();
}
