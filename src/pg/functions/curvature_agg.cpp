// The aggregate margin_with_curvature: it keeps the rows, and the final function adds what they say of the curvature of the model's
// objective to the model (analysis/model_curvature.hpp).
#include "core/analysis/model_curvature.hpp"
#include "pg/functions/collected_group.hpp"
#include "pg/server/interrupts.hpp"

namespace margin::pg {
namespace {

class CurvatureState final : public GroupState {
 public:
  explicit CurvatureState(PassStart&& start)
      : GroupState(std::move(start), require_curvature), options(parse_curvature(given())) {}
  const CurvatureOptions options;
};

const PassKind curvature_pass = {make_state<CurvatureState>};

}  // namespace
}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(margin_with_curvature_step) { return pass_step(fcinfo, curvature_pass); }
MARGIN_FUNCTION(margin_with_curvature_final) {
  auto* const state = final_state<CurvatureState>(fcinfo);
  if (state == nullptr || state->kept->data.rows() == 0) PG_RETURN_NULL();
  margin::Model model = *state->model;
  read_figures(PointerGetDatum(state->model.bytes().data()), model);
  const InterruptProgress progress;
  model = margin::with_curvature(std::move(model), state->kept->data, state->settings, state->options, progress,
                                 margin::MemoryBudget(state->kept->memory.left()));
  return model_datum(fcinfo, model, status_of(PointerGetDatum(state->model.bytes().data())));
}
