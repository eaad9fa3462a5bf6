// The aggregate margin_update: a stored model after rows have come and gone, from these rows alone (model/update.hpp).
#include "core/model/update.hpp"
#include "pg/functions/pass_agg.hpp"
#include "pg/server/interrupts.hpp"
#include "pg/values/row_weight.hpp"

namespace margin::pg {
namespace {

struct UpdateState {
  UpdateState(std::string flat, bool)
      : model(std::move(flat)), options(settings_of(*model)), update(*model, options, InterruptProgress()) {}

  void add(PassCall& call, Datum label, const Row& row, double weight, bool removed) {
    const Row x = fitted(*model, row);
    require_finite(x, "WHERE");
    if (model->regression()) {
      update.add(x, call.label.number(label), weight, removed);
      return;
    }
    const std::int32_t truth = labels.find(
        call.label, label, [&](const LabelReader::ClassName& name) { return model.class_index(name.text); });
    update.add(x, truth, weight, removed);
  }

  /// The sums of the rows, and those of the curvature, which are as large as it is.
  double bytes() const {
    double bytes = 16.0 * (model->terms() + 1.0) * model->outputs();
    if (model->dual_point != nullptr && model->dual_point->curvature != nullptr)
      for (const CurvedPoint& p : *model->dual_point->curvature) bytes += 3 * p.bytes();
    return bytes;
  }

  void merge(const UpdateState& other) { update.merge(other.update.state()); }

  /// Writes the state, or reads one into a fresh state.
  template <class Archive>
  bool exchange(Archive& archive) {
    std::vector<double> state = update.state();
    archive(state);
    return !std::is_same_v<Archive, StateReader> || update.merge(state);
  }

  GroupModel model;
  const Options options;
  ModelUpdate update;
  std::int64_t skipped = 0;
  LabelCache labels;
};

}  // namespace
}  // namespace margin::pg

using namespace margin::pg;

/// (state, model, label, features, removed [, weight])
MARGIN_FUNCTION(margin_update_step) {
  const bool weighted = PG_NARGS() > 5;
  return pass_step<UpdateState>(fcinfo, [&](UpdateState& state, PassCall& call, const margin::Row& x) {
    if (PG_ARGISNULL(4))
      throw margin::Error(margin::ErrorKind::null_value,
                          "removed is NULL, expected true for a row that went, false for one that came",
                          "Leave other rows out with FILTER (WHERE ...).");
    const double weight = weighted ? row_weight(fcinfo, 5) : 1.0;
    if (weight > 0) state.add(call, PG_GETARG_DATUM(2), x, weight, PG_GETARG_BOOL(4));
  });
}
MARGIN_FUNCTION(margin_update_combine) { return pass_combine<UpdateState>(fcinfo); }
MARGIN_FUNCTION(margin_update_serialize) { return pass_serialize<UpdateState>(fcinfo); }
MARGIN_FUNCTION(margin_update_deserialize) { return pass_deserialize<UpdateState>(fcinfo); }
MARGIN_FUNCTION(margin_update_final) {
  aggregate_context(fcinfo);
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  auto* const state = reinterpret_cast<UpdateState*>(PG_GETARG_POINTER(0));
  margin::Model model = *state->model;
  read_figures(PointerGetDatum(state->model.bytes().data()), model);
  model = state->update.updated(std::move(model), InterruptProgress());
  const bool near = model.certificate.relative_gap <= state->options.tolerance;
  return model_datum(fcinfo, model,
                     model.dual_point == nullptr || !(model.certificate.lower > 0) ? "retrain"
                     : near                                                        ? "optimal"
                                                                                   : "updated");
}
