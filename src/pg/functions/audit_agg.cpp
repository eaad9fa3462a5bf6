// The aggregate margin_audit: the interval that holds the optimum of a model's objective, from one pass over the rows
// and no more of the model than its weights (model/model_audit.hpp).
#include "core/model/model_audit.hpp"
#include "pg/functions/pass_agg.hpp"
#include "pg/server/interrupts.hpp"
#include "pg/values/composite.hpp"
#include "pg/values/row_weight.hpp"

namespace margin::pg {
namespace {

struct AuditState {
  AuditState(std::string flat, std::string given_options)
      : model(std::move(flat)),
        options_text(std::move(given_options)),
        settings(settings_of(*model)),
        audit(*model, settings,
              parse_audit(options_text.empty() ? Value::Object{} : options_from(jsonb_of_payload(options_text)))) {}

  double bytes() const { return audit.bytes(); }

  GroupModel model;
  std::string options_text;  // a jsonb without its header
  const Options settings;
  ModelAudit audit;
  std::int64_t skipped = 0;
  LabelCache labels;
};

AuditState* new_state(MemoryContext context, std::string flat, std::string options) {
  auto* state = create_in<AuditState>(context, std::move(flat), std::move(options));
  MemoryBudget(memory_limit()).require(state->audit.bytes(), "margin_audit");
  return state;
}

/// Argument numbers of the weight and of the options; 0: none.
Datum audit_step(FunctionCallInfo fcinfo, int weight_at, int options_at) {
  return pass_step_with_options<PassCall, AuditState>(
      fcinfo, options_at, new_state, [&](AuditState& state, PassCall& call, const FeatureRow& features) {
        const double weight = weight_at != 0 ? row_weight(fcinfo, weight_at) : 1.0;
        const Row x = fitted(*state.model, features);
        require_finite(x, "WHERE");
        const Datum label = PG_GETARG_DATUM(2);
        if (state.model->regression()) return state.audit.add(x, call.label.number(label), weight, memory_limit());
        const std::int32_t truth = state.labels.find(
            call.label, label, [&](const LabelReader::ClassName& name) { return state.model.class_index(name.text); });
        state.audit.add(x, truth, weight, memory_limit());
      });
}

}  // namespace
}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(margin_audit_step) { return audit_step(fcinfo, 0, 0); }
MARGIN_FUNCTION(margin_audit_step_options) { return audit_step(fcinfo, 0, 4); }
MARGIN_FUNCTION(margin_audit_step_weight_options) { return audit_step(fcinfo, 4, 5); }

MARGIN_FUNCTION(margin_audit_combine) {
  MemoryContext context = aggregate_context(fcinfo);
  if (PG_ARGISNULL(1)) {
    if (PG_ARGISNULL(0)) PG_RETURN_NULL();
    return PG_GETARG_DATUM(0);
  }
  auto* other = reinterpret_cast<AuditState*>(PG_GETARG_POINTER(1));
  auto* state = PG_ARGISNULL(0) ? new_state(context, other->model.bytes(), other->options_text)
                                : reinterpret_cast<AuditState*>(PG_GETARG_POINTER(0));
  state->model.require_same(other->model);
  require_same_options(state->options_text == other->options_text);
  state->skipped += other->skipped;
  state->audit.merge(other->audit.state(), memory_limit());
  tell_size(context, *state, 1);
  PG_RETURN_POINTER(state);
}

MARGIN_FUNCTION(margin_audit_serialize) {
  aggregate_context(fcinfo);
  auto* state = reinterpret_cast<AuditState*>(PG_GETARG_POINTER(0));
  StateWriter out;
  std::int64_t version = state_version;
  out(version);
  out(state->model.bytes());
  out(state->options_text);
  out(state->skipped);
  std::vector<double> numbers = state->audit.state();
  out(numbers);
  return out.finish();
}

MARGIN_FUNCTION(margin_audit_deserialize) {
  aggregate_context(fcinfo);
  StateReader in(payload(PG_GETARG_DATUM(0)));
  std::int64_t version = 0, skipped = 0;
  std::string model, options;
  std::vector<double> numbers;
  in(version);
  in.require(version == state_version);
  in(model);
  in.require(model.size() > SizeofHeapTupleHeader && VARSIZE_ANY(model.data()) == model.size());
  in(options);
  in(skipped);
  in.require(skipped >= 0);
  in(numbers);
  in.require_end();
  auto* state = new_state(CurrentMemoryContext, std::move(model), std::move(options));
  state->skipped = skipped;
  in.require(state->audit.merge(numbers, memory_limit()));
  PG_RETURN_POINTER(state);
}

MARGIN_FUNCTION(margin_audit_final) {
  aggregate_context(fcinfo);
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  const auto* state = reinterpret_cast<const AuditState*>(PG_GETARG_POINTER(0));
  if (state->audit.rows() == 0) PG_RETURN_NULL();
  ThreadedProgress progress;
  const margin::AuditFigures found = state->audit.result(progress);
  CompositeBuilder out(fcinfo);
  out.set_int8("rows", found.rows);
  out.set_int8("skipped", state->skipped);
  out.set_int8("errors", found.errors);
  const auto relative = [](const margin::AuditedValue& v) { return v.gap() > 0 ? v.gap() / v.primal : 0.0; };
  if (std::isfinite(found.found.primal)) {
    out.set_float8("lambda", found.found.lambda);
    out.set_float8("primal", found.found.primal);
    out.set_float8("dual", found.found.dual);
    out.set_float8("gap", found.found.gap());
    out.set_float8("relative_gap", relative(found.found));
  }
  if (found.best.has_value() && std::isfinite(found.best->primal)) {
    out.set_float8("best_lambda", found.best->lambda);
    out.set_float8("best_gap", found.best->gap());
    out.set_float8("best_relative_gap", relative(*found.best));
  }
  return out.finish();
}
