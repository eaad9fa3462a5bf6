// The aggregate margin_inference: standard errors, tests and intervals of the coefficients of a model (analysis/inference.hpp).
#include "core/analysis/inference.hpp"
#include "pg/functions/pass_agg.hpp"
#include "pg/server/interrupts.hpp"
#include "pg/values/composite.hpp"

namespace margin::pg {
namespace {

std::optional<Status> status_of(const std::string& flat) {
  return status_from(CompositeReader(PointerGetDatum(flat.data()), "margin_model").string("status").value_or(""));
}

class InferenceState final : public PassState {
 public:
  explicit InferenceState(PassStart&& start)
      : PassState(std::move(start)),
        settings(settings_of(*model)),
        inference(*model, status_of(model.bytes()), settings, parse_inference(given(), grouped)) {
    MemoryBudget(memory_limit()).require(inference.bytes(), "margin_inference");
  }

  void add(const PassRow& row) override {
    FunctionCallInfo fcinfo = row.fcinfo;
    const double weight = row.weight();
    std::string_view cluster;
    if (const int at = row.call.arguments.group; at != 0) {
      if (PG_ARGISNULL(at))
        throw Error(ErrorKind::null_value, "the cluster of a row is NULL",
                    "Leave such rows out with FILTER (WHERE ...), from the training as well.");
      cluster = row.call.group->name(PG_GETARG_DATUM(at)).text;
    }
    const Row x = finite_row(row);
    const double target = model->regression() ? row.call.label->number(row.label()) : class_of(row) == 1 ? 1.0 : -1.0;
    inference.add(x, target, weight, cluster, memory_limit());
  }
  double bytes() const override { return inference.bytes(); }
  void merge(const PassState& state) override {
    const auto& other = static_cast<const InferenceState&>(state);
    inference.merge(other.inference.state(), other.inference.clusters());
  }
  void write(StateWriter& out) const override {
    std::vector<double> numbers = inference.state();
    out(numbers);
    std::vector<std::string> clusters = inference.clusters();
    auto count = static_cast<std::int64_t>(clusters.size());
    out(count);
    for (std::string& name : clusters) out(name);
  }
  bool read(StateReader& in) override {
    std::vector<double> numbers;
    std::vector<std::string> clusters;
    std::int64_t count = 0;
    in(numbers);
    in(count);
    for (std::int64_t i = 0; i < count; ++i) in(clusters.emplace_back());
    return inference.merge(numbers, clusters);
  }

  const Options settings;
  Inference inference;
};

}  // namespace

extern const PassKind inference_pass;
const PassKind inference_pass = {make_state<InferenceState>};

}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(margin_inference_step) { return pass_step(fcinfo, inference_pass, {2, 3, 4, "cluster"}); }
MARGIN_FUNCTION(margin_inference_final) {
  const auto* const state = final_state<InferenceState>(fcinfo);
  if (state == nullptr || state->inference.rows() == 0) PG_RETURN_NULL();
  InterruptProgress progress;
  std::vector<Datum> rows;
  const std::vector<margin::Coefficient> found = state->inference.result(progress);
  if (state->inference.exact_fit())
    warn("the model fits every label up to rounding: no residuals are left to estimate standard errors from",
         "Their standard errors are 0, and they have no statistic and no p-value. Is the label computed from the "
         "features?");
  for (const margin::Coefficient& c : found) {
    CompositeBuilder out(fcinfo);
    if (c.feature >= 0) out.set_int4("feature", c.feature + 1);
    if (c.feature >= 0 && state->model->encoder != nullptr)
      out.set_text("name", state->model->encoder->feature_name(c.feature));
    out.set_float8("estimate", c.estimate);
    out.set_float8("std_error", c.std_error);
    if (c.std_error > 0) {
      out.set_float8("statistic", c.statistic);
      out.set_float8("p_value", c.p_value);
    }
    out.set_float8("lower", c.lower);
    out.set_float8("upper", c.upper);
    rows.push_back(out.finish());
  }
  return composite_array(rows);
}
