// The aggregate margin_update: a stored model after rows have come and gone, from these rows alone (analysis/update.hpp).
#include "core/analysis/update.hpp"
#include "pg/functions/pass_agg.hpp"
#include "pg/server/interrupts.hpp"

namespace margin::pg {
namespace {

/// (state, model, label, features, removed [, weight])
constexpr int removed_at = 4;

class UpdateState final : public PassState {
 public:
  explicit UpdateState(PassStart&& start)
      : PassState(std::move(start)), options(settings_of(*model)), update(*model, options, InterruptProgress()) {}

  void add(const PassRow& row) override {
    FunctionCallInfo fcinfo = row.fcinfo;
    if (PG_ARGISNULL(removed_at))
      throw Error(ErrorKind::null_value, "removed is NULL, expected true for a row that went, false for one that came",
                  "Leave other rows out with FILTER (WHERE ...).");
    const bool removed = PG_GETARG_BOOL(removed_at);
    const double weight = row.weight();
    if (weight == 0) return;
    const Row x = finite_row(row);
    if (model->regression())
      update.add(x, row.call.label->number(row.label()), weight, removed);
    else
      update.add(x, class_of(row), weight, removed);
  }

  /// The sums of the rows, and those of the curvature, which are as large as it is.
  double bytes() const override {
    double bytes = 16.0 * (model->terms() + 1.0) * model->outputs();
    if (model->dual_point != nullptr && model->dual_point->curvature != nullptr)
      for (const CurvedPoint& p : *model->dual_point->curvature) bytes += 3 * p.bytes();
    return bytes;
  }
  void merge(const PassState& other) override { update.merge(static_cast<const UpdateState&>(other).update.state()); }
  void write(StateWriter& out) const override {
    std::vector<double> numbers = update.state();
    out(numbers);
  }
  bool read(StateReader& in) override {
    std::vector<double> numbers;
    in(numbers);
    return update.merge(numbers);
  }

  const Options options;
  ModelUpdate update;
};

}  // namespace

extern const PassKind update_pass;
const PassKind update_pass = {make_state<UpdateState>};

}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(margin_update_step) { return pass_step(fcinfo, update_pass, {2, 3, removed_at + 1}); }
MARGIN_FUNCTION(margin_update_final) {
  auto* const state = final_state<UpdateState>(fcinfo);
  if (state == nullptr) PG_RETURN_NULL();
  margin::Model model = *state->model;
  read_figures(PointerGetDatum(state->model.bytes().data()), model);
  model = state->update.updated(std::move(model), InterruptProgress());
  return model_datum(fcinfo, model, updated_status(model, state->options));
}
