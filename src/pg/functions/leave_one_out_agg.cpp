// The aggregate margin_leave_one_out: it keeps the rows as train_margin does, and the final function trains on them once
// (train/leave_one_out.hpp).
#include "core/train/leave_one_out.hpp"
#include "pg/functions/pass_agg.hpp"
#include "pg/server/interrupts.hpp"
#include "pg/server/spill.hpp"
#include "pg/values/composite.hpp"
#include "pg/values/row_weight.hpp"

namespace margin::pg {
namespace {

/// The rows of a group, whose memory is the aggregate context's: no destructor runs.
struct KeptRows {
  explicit KeptRows(MemoryContext context)
      : memory(context, memory_limit(), &rows),
        store(context, std::max(0.0, memory_limit())),
        data(Dataset::Outcome::classes, &memory, memory_limit() < 0 ? nullptr : &store) {}
  std::int64_t rows = 0;
  ContextResource memory;
  SpillStore store;
  Dataset data;
};

struct LeaveOneOutState {
  LeaveOneOutState(MemoryContext context, std::string flat, std::string given_options)
      : model(std::move(flat)),
        options_text(std::move(given_options)),
        settings(settings_of(*model)),
        options(parse_leave_one_out(options_text.empty() ? Value::Object{}
                                                         : options_from(jsonb_of_payload(options_text)))) {
    require_leave_one_out(*model, settings);
    kept = new (allocate_in(context, sizeof(KeptRows))) KeptRows(context);
    // In the order of the model, whatever that of the rows.
    for (std::size_t c = 0; c < model->classes.size(); ++c)
      kept->data.classes().intern(model->classes[c], static_cast<double>(c));
  }

  GroupModel model;
  std::string options_text;  // a jsonb without its header
  const Options settings;
  const LeaveOneOutOptions options;
  KeptRows* kept = nullptr;
  std::int64_t skipped = 0;
  LabelCache labels;
};

/// Argument numbers of the weight and of the options; 0: none.
Datum keep_row(FunctionCallInfo fcinfo, int weight_at, int options_at) {
  MemoryContext context = aggregate_context(fcinfo);
  auto& call = query_state<PassCall>(fcinfo);
  auto* state = PG_ARGISNULL(0) ? nullptr : reinterpret_cast<LeaveOneOutState*>(PG_GETARG_POINTER(0));
  if (PG_ARGISNULL(1)) {
    if (state == nullptr) PG_RETURN_NULL();
    PG_RETURN_POINTER(state);
  }
  if (options_at != 0 && PG_ARGISNULL(options_at))
    throw Error(ErrorKind::null_value, "the options are NULL, expected a jsonb object", "'{}' means the defaults.");
  const std::string_view options = options_at != 0 ? payload(PG_GETARG_DATUM(options_at)) : std::string_view();
  const Datum model = PG_GETARG_DATUM(1);
  if (state == nullptr) {
    state = create_in<LeaveOneOutState>(context, context, flat_model(model), std::string(options));
  } else {
    state->model.require_same(model);
    if (options != state->options_text)
      throw Error(ErrorKind::invalid_option, "the options must be the same for every row of a group");
  }
  const std::optional<FeatureRow> features =
      PG_ARGISNULL(2) || PG_ARGISNULL(3) ? std::nullopt : state->model.read(call.features, PG_GETARG_DATUM(3));
  if (!features.has_value()) {
    ++state->skipped;
    PG_RETURN_POINTER(state);
  }
  const double weight = weight_at != 0 ? row_weight(fcinfo, weight_at) : 1.0;
  FeatureRow x{};
  static_cast<Row&>(x) = fitted(*state->model, *features);
  x.dimensions = state->model->dimensions;
  const std::int32_t label =
      state->labels.find(call.label, PG_GETARG_DATUM(2),
                         [&](const LabelReader::ClassName& name) { return state->model.class_index(name.text); });
  ++state->kept->rows;
  state->kept->data.append(x, label, weight);
  PG_RETURN_POINTER(state);
}

}  // namespace
}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(margin_leave_one_out_step) { return keep_row(fcinfo, 0, 0); }
MARGIN_FUNCTION(margin_leave_one_out_step_options) { return keep_row(fcinfo, 0, 4); }
MARGIN_FUNCTION(margin_leave_one_out_step_weight_options) { return keep_row(fcinfo, 4, 5); }

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
