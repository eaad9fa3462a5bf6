// The aggregate margin_leave_one_out: it keeps the rows as train_margin does, and the final function trains on them once
// (train/leave_one_out.hpp).
#include "core/train/leave_one_out.hpp"
#include "pg/functions/collected_group.hpp"
#include "pg/server/interrupts.hpp"
#include "pg/values/composite.hpp"

namespace margin::pg {
namespace {

struct LeaveOneOutState : GroupState {
  LeaveOneOutState(MemoryContext context, std::string flat, std::string given_options)
      : GroupState(std::move(flat), std::move(given_options)), options(parse_leave_one_out(given())) {
    require_leave_one_out(*model, settings);
    open(context);
  }
  const LeaveOneOutOptions options;
};

}  // namespace
}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(margin_leave_one_out_step) { return keep_row<LeaveOneOutState>(fcinfo, 0, 0); }
MARGIN_FUNCTION(margin_leave_one_out_step_options) { return keep_row<LeaveOneOutState>(fcinfo, 0, 4); }
MARGIN_FUNCTION(margin_leave_one_out_step_weight_options) { return keep_row<LeaveOneOutState>(fcinfo, 4, 5); }

MARGIN_FUNCTION(margin_leave_one_out_final) {
  aggregate_context(fcinfo);
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  const auto* state = reinterpret_cast<const LeaveOneOutState*>(PG_GETARG_POINTER(0));
  if (state->kept->data.rows() == 0) PG_RETURN_NULL();
  ThreadedProgress progress;
  const margin::LeaveOneOut found =
      margin::leave_one_out(state->kept->data, *state->model, state->settings, state->options, progress,
                            margin::MemoryBudget(state->kept->memory.left()));
  CompositeBuilder out(fcinfo);
  out.set_int8("rows", found.rows);
  out.set_int8("skipped", state->skipped);
  out.set_int8("training_errors", found.errors);
  out.set_int8("errors_lower", found.lower);
  out.set_int8("errors_upper", found.upper);
  out.set_int8("undecided", found.undecided);
  out.set_int8("refitted", found.refitted);
  const auto rows = static_cast<double>(found.rows);
  if (found.rows > 0) {
    out.set_float8("error_lower", static_cast<double>(found.lower) / rows);
    out.set_float8("error_upper", static_cast<double>(found.upper) / rows);
  }
  return out.finish();
}
