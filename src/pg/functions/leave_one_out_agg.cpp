// The aggregate margin_leave_one_out: it keeps the rows as train_margin does, and the final function trains on them once
// (analysis/leave_one_out.hpp).
#include "core/analysis/leave_one_out.hpp"
#include "pg/functions/collected_group.hpp"
#include "pg/server/interrupts.hpp"
#include "pg/values/composite.hpp"

namespace margin::pg {
namespace {

class LeaveOneOutState final : public GroupState {
 public:
  explicit LeaveOneOutState(PassStart&& start)
      : GroupState(std::move(start), require_leave_one_out), options(parse_leave_one_out(given())) {}
  const LeaveOneOutOptions options;
};

const PassKind leave_one_out_pass = {make_state<LeaveOneOutState>};

}  // namespace
}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(margin_leave_one_out_step) { return pass_step(fcinfo, leave_one_out_pass); }
MARGIN_FUNCTION(margin_leave_one_out_final) {
  const auto* const state = final_state<LeaveOneOutState>(fcinfo);
  if (state == nullptr || state->kept->data.rows() == 0) PG_RETURN_NULL();
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
