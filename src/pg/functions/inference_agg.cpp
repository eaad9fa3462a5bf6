// The aggregate margin_inference: standard errors, tests and intervals of the coefficients of a model (model/inference.hpp).
#include "core/model/inference.hpp"
#include "pg/functions/pass_agg.hpp"
#include "pg/server/interrupts.hpp"
#include "pg/values/composite.hpp"
#include "pg/values/row_weight.hpp"

namespace margin::pg {
namespace {

/// Where a step function has its arguments; 0: nowhere.
struct Places {
  int weight = 0, cluster = 0, options = 0;
};

std::optional<Status> status_of(const std::string& flat) {
  return status_from(CompositeReader(PointerGetDatum(flat.data()), "margin_model").string("status").value_or(""));
}

struct InferenceState {
  InferenceState(std::string flat, std::string given_options, bool with_clusters)
      : model(std::move(flat)),
        options_text(std::move(given_options)),
        clustered(with_clusters),
        settings(settings_of(*model)),
        inference(*model, status_of(model.bytes()), settings,
                  parse_inference(options_text.empty() ? Value::Object{} : options_from(jsonb_of_payload(options_text)),
                                  clustered)) {}

  double bytes() const { return inference.bytes(); }

  GroupModel model;
  std::string options_text;  // a jsonb without its header
  bool clustered;
  const Options settings;
  Inference inference;
  std::int64_t skipped = 0;
  LabelCache labels;
};

struct InferenceCall : PassCall {
  explicit InferenceCall(FunctionCallInfo fcinfo) : PassCall(fcinfo) {
    if (fcinfo->nargs == 7) cluster.emplace(get_fn_expr_argtype(fcinfo->flinfo, 5), "cluster");
  }
  std::optional<LabelReader> cluster;
};

double target_of(InferenceState& state, InferenceCall& call, Datum label) {
  if (state.model->regression()) return call.label.number(label);
  const std::int32_t truth = state.labels.find(
      call.label, label, [&](const LabelReader::ClassName& name) { return state.model.class_index(name.text); });
  return truth == 1 ? 1.0 : -1.0;
}

Datum inference_step(FunctionCallInfo fcinfo, const Places& places) {
  const auto make = [&](MemoryContext context, std::string flat, std::string options) {
    auto* state = create_in<InferenceState>(context, std::move(flat), std::move(options), places.cluster != 0);
    MemoryBudget(memory_limit()).require(state->inference.bytes(), "margin_inference");
    return state;
  };
  return pass_step_with_options<InferenceCall, InferenceState>(
      fcinfo, places.options, make, [&](InferenceState& state, InferenceCall& call, const FeatureRow& features) {
        const double weight = places.weight != 0 ? row_weight(fcinfo, places.weight) : 1.0;
        std::string_view cluster;
        if (places.cluster != 0) {
          if (PG_ARGISNULL(places.cluster))
            throw Error(ErrorKind::null_value, "the cluster of a row is NULL",
                        "Leave such rows out with FILTER (WHERE ...), from the training as well.");
          cluster = call.cluster->name(PG_GETARG_DATUM(places.cluster)).text;
        }
        const Row x = fitted(*state.model, features);
        require_finite(x, "WHERE");
        state.inference.add(x, target_of(state, call, PG_GETARG_DATUM(2)), weight, cluster, memory_limit());
      });
}

}  // namespace
}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(margin_inference_step) { return inference_step(fcinfo, {}); }
MARGIN_FUNCTION(margin_inference_step_options) { return inference_step(fcinfo, {0, 0, 4}); }
MARGIN_FUNCTION(margin_inference_step_weight_options) { return inference_step(fcinfo, {4, 0, 5}); }
MARGIN_FUNCTION(margin_inference_step_cluster_options) { return inference_step(fcinfo, {4, 5, 6}); }

MARGIN_FUNCTION(margin_inference_combine) {
  MemoryContext context = aggregate_context(fcinfo);
  if (PG_ARGISNULL(1)) {
    if (PG_ARGISNULL(0)) PG_RETURN_NULL();
    return PG_GETARG_DATUM(0);
  }
  auto* other = reinterpret_cast<InferenceState*>(PG_GETARG_POINTER(1));
  auto* state = PG_ARGISNULL(0)
                    ? create_in<InferenceState>(context, other->model.bytes(), other->options_text, other->clustered)
                    : reinterpret_cast<InferenceState*>(PG_GETARG_POINTER(0));
  state->model.require_same(other->model);
  require_same_options(state->options_text == other->options_text && state->clustered == other->clustered);
  state->skipped += other->skipped;
  state->inference.merge(other->inference.state(), other->inference.clusters());
  tell_size(context, *state, 1);
  PG_RETURN_POINTER(state);
}

MARGIN_FUNCTION(margin_inference_serialize) {
  aggregate_context(fcinfo);
  auto* state = reinterpret_cast<InferenceState*>(PG_GETARG_POINTER(0));
  StateWriter out;
  std::int64_t version = state_version, clustered = state->clustered ? 1 : 0;
  out(version);
  out(state->model.bytes());
  out(state->options_text);
  out(clustered);
  out(state->skipped);
  std::vector<double> numbers = state->inference.state();
  out(numbers);
  std::vector<std::string> clusters = state->inference.clusters();
  auto count = static_cast<std::int64_t>(clusters.size());
  out(count);
  for (std::string& name : clusters) out(name);
  return out.finish();
}

MARGIN_FUNCTION(margin_inference_deserialize) {
  aggregate_context(fcinfo);
  StateReader in(payload(PG_GETARG_DATUM(0)));
  std::int64_t version = 0, clustered = 0, count = 0, skipped = 0;
  std::string model, options;
  std::vector<double> numbers;
  std::vector<std::string> clusters;
  in(version);
  in.require(version == state_version);
  in(model);
  in.require(model.size() > SizeofHeapTupleHeader && VARSIZE_ANY(model.data()) == model.size());
  in(options);
  in(clustered);
  in(skipped);
  in.require(skipped >= 0 && (clustered == 0 || clustered == 1));
  in(numbers);
  in(count);
  for (std::int64_t i = 0; i < count; ++i) in(clusters.emplace_back());
  in.require_end();
  auto* state = create_in<InferenceState>(CurrentMemoryContext, std::move(model), std::move(options), clustered == 1);
  state->skipped = skipped;
  in.require(state->inference.merge(numbers, clusters));
  PG_RETURN_POINTER(state);
}

MARGIN_FUNCTION(margin_inference_final) {
  aggregate_context(fcinfo);
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  const auto* state = reinterpret_cast<const InferenceState*>(PG_GETARG_POINTER(0));
  if (state->inference.rows() == 0) PG_RETURN_NULL();
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
