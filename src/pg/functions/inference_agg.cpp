// margin_inference, the aggregate and the function of states: standard errors, tests and intervals of the coefficients of a
// model (analysis/inference.hpp).
#include "core/scans/model_inference.hpp"
#include "core/scans/model_question.hpp"
#include "pg/functions/pass_agg.hpp"
#include "pg/server/interrupts.hpp"
#include "pg/values/composite.hpp"
#include "pg/values/scan_values.hpp"

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

Datum coefficients(FunctionCallInfo fcinfo, const Model& model, const Inference& inference, const Progress& progress) {
  std::vector<Datum> rows;
  const std::vector<Coefficient> found = inference.result(progress);
  if (inference.exact_fit())
    warn("the model fits every label up to rounding: no residuals are left to estimate standard errors from",
         "Their standard errors are 0, and they have no statistic and no p-value. Is the label computed from the "
         "features?");
  for (const Coefficient& c : found) {
    CompositeBuilder out(fcinfo);
    if (c.feature >= 0) out.set_int4("feature", c.feature + 1);
    if (c.feature >= 0 && model.encoder != nullptr) out.set_text("name", model.encoder->feature_name(c.feature));
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
  return coefficients(fcinfo, *state->model, state->inference, progress);
}

/// (model, states of its question, options)
MARGIN_FUNCTION(margin_inference_of_states) {
  InterruptProgress progress;
  const std::string flat = flat_model(PG_GETARG_DATUM(0));
  const GroupModel model(flat);
  const margin::Options settings = settings_of(*model);
  const margin::Value::Object given = options_from(PG_GETARG_DATUM(2));
  const auto asked = given.find("covariance");
  const auto* const covariance = asked == given.end() ? nullptr : std::get_if<std::string>(&asked->second.data);
  const bool clustered = covariance != nullptr && *covariance == "cluster";
  margin::Inference inference(*model, status_of(flat), settings, margin::parse_inference(given, clustered));
  const margin::Question question = margin::model_question(*model, settings);
  margin::MemoryBudget(memory_limit()).require(inference.bytes(), "margin_inference");
  std::int64_t clusters = 0;
  for (const std::optional<Datum>& state : array_elements(PG_GETARG_DATUM(1), "states")) {
    if (!state.has_value()) continue;  // of a part without rows
    margin::Answer answer = margin::Answer::from_bytes(scan_bytes(*state), progress);
    const std::string cluster = std::to_string(clusters++);
    margin::add_answer(inference, question, answer, clustered ? &cluster : nullptr, progress);
  }
  if (inference.rows() == 0) PG_RETURN_NULL();
  return coefficients(fcinfo, *model, inference, progress);
}
