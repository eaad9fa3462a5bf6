// The aggregate margin_with_curvature: it keeps the rows, and the final function adds what they say of the curvature of the model's
// objective to the model (model/model_curvature.hpp).
#include "core/model/model_curvature.hpp"
#include "pg/functions/collected_group.hpp"
#include "pg/server/interrupts.hpp"

namespace margin::pg {
namespace {

struct CurvatureState : GroupState {
  CurvatureState(MemoryContext context, std::string flat, std::string given_options)
      : GroupState(std::move(flat), std::move(given_options)), options(parse_curvature(given())) {
    require_curvature(*model, settings);
    open(context);
  }
  const CurvatureOptions options;
};

}  // namespace
}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(margin_with_curvature_step) { return keep_row<CurvatureState>(fcinfo, 0, 0); }
MARGIN_FUNCTION(margin_with_curvature_step_options) { return keep_row<CurvatureState>(fcinfo, 0, 4); }
MARGIN_FUNCTION(margin_with_curvature_step_weight_options) { return keep_row<CurvatureState>(fcinfo, 4, 5); }

MARGIN_FUNCTION(margin_with_curvature_final) {
  aggregate_context(fcinfo);
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  auto* const state = reinterpret_cast<CurvatureState*>(PG_GETARG_POINTER(0));
  if (state->kept->data.rows() == 0) PG_RETURN_NULL();
  margin::Model model = *state->model;
  read_figures(PointerGetDatum(state->model.bytes().data()), model);
  const InterruptProgress progress;
  model = margin::with_curvature(std::move(model), state->kept->data, state->settings, state->options, progress,
                                 margin::MemoryBudget(state->kept->memory.left()));
  return model_datum(fcinfo, model, status_of(PointerGetDatum(state->model.bytes().data())));
}
