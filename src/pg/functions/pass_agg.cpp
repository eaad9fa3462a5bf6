#include "pg/functions/pass_agg.hpp"

#include "pg/server/composite_header.hpp"

namespace margin::pg {

extern const PassKind evaluate_pass;
extern const PassKind threshold_pass;
extern const PassKind verify_pass;
extern const PassKind audit_pass;
extern const PassKind inference_pass;
extern const PassKind update_pass;

namespace {

/// The only list of kinds whose states merge.
const PassKind* const merging[] = {&evaluate_pass, &threshold_pass, &verify_pass,
                                   &audit_pass,    &inference_pass, &update_pass};

/// Throws Error(invalid_option) unless the options of a row are those of its group.
void require_same_options(bool same) {
  if (!same) throw Error(ErrorKind::invalid_option, "the options must be the same for every row of a group");
}

/// False for parts of a query that runs in several processes.
bool sees_all_rows(FunctionCallInfo fcinfo) {
  const Aggref* aggref = AggGetAggref(fcinfo);
  return aggref == nullptr || aggref->aggsplit == AGGSPLIT_SIMPLE;  // null: a window function
}

PassState* state_of(FunctionCallInfo fcinfo, int number) {
  return PG_ARGISNULL(number) ? nullptr : reinterpret_cast<PassState*>(DatumGetPointer(PG_GETARG_DATUM(number)));
}

Datum returned(FunctionCallInfo fcinfo, const PassState* state) {
  if (state == nullptr) PG_RETURN_NULL();
  PG_RETURN_POINTER(state);
}

}  // namespace

std::string flat_model(Datum composite) {
  const auto* header = backend([=] { return composite_header(composite); });
  return {reinterpret_cast<const char*>(header), VARSIZE_ANY(header)};
}

GroupModel::GroupModel(std::string flat)
    : flat_(std::move(flat)),
      model_(read_model(PointerGetDatum(flat_.data()))),
      scorer_(scorer_of(model_)),
      classes_(model_.classes) {}

[[noreturn]] static void refuse_second_model() {
  throw Error(ErrorKind::invalid_option, "the model must be the same for every row of a group",
              "To use several models at once, GROUP BY the column that tells them apart. A model trained in the same "
              "statement belongs in WITH ... AS MATERIALIZED, or a plan may train it anew for every row.");
}

void GroupModel::require_same(Datum composite) {
  const std::string_view key = argument_key(composite);
  if (key == key_) return;
  if (flat_model(composite) != flat_) refuse_second_model();
  key_ = key;
}

void GroupModel::tell_size(MemoryContext context, double bytes) {
  bytes += 2 * bytes_of(model_) + 2 * static_cast<double>(flat_.size());
  if (bytes <= 1.25 * told_bytes_) return;
  void* const before = told_;
  const auto size = static_cast<std::size_t>(bytes);
  told_ = backend([=] {
    if (before != nullptr) pfree(before);
    return size > MaxAllocHugeSize ? nullptr
                                   : MemoryContextAllocExtended(context, size, MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
  });
  told_bytes_ = bytes;
}

void GroupModel::require_same(const GroupModel& other) const {
  if (flat_ != other.flat_) refuse_second_model();
}

void PassState::merge(const PassState&) { throw std::logic_error("a state that keeps its rows is not merged"); }
void PassState::write(StateWriter&) const { throw std::logic_error("a state that keeps its rows is not sent"); }
bool PassState::read(StateReader&) { return false; }

Row PassState::finite_row(const PassRow& row) const {
  const Row x = fitted(*model, row.features);
  require_finite(x, "WHERE");
  return x;
}

Value::Object PassState::given() const {
  return options_text.empty() ? Value::Object{} : options_from(jsonb_of_payload(options_text));
}

Datum pass_step(FunctionCallInfo fcinfo, const PassKind& kind, const RowLayout& layout) {
  MemoryContext context = aggregate_context(fcinfo);
  auto& call = query_state<PassCall>(fcinfo, layout);
  PassState* state = state_of(fcinfo, 0);
  if (PG_ARGISNULL(1)) return returned(fcinfo, state);  // no model's row: not counted, wherever it comes in the order
  const std::string_view options = call.arguments.options_of(fcinfo, kind.null_options);
  const Datum model = PG_GETARG_DATUM(1);
  if (state == nullptr) {
    state = kind.make({&kind, context, flat_model(model), std::string(options), layout.label != 0,
                       call.arguments.weight != 0, call.arguments.group != 0, sees_all_rows(fcinfo)});
    state->model.know(model);
  } else {
    state->model.require_same(model);
    require_same_options(options == state->options_text);
  }
  const bool is_null = (layout.label != 0 && PG_ARGISNULL(layout.label)) || PG_ARGISNULL(layout.features);
  const std::optional<FeatureRow> x =
      is_null ? std::nullopt : state->model.read(call.features, PG_GETARG_DATUM(layout.features));
  if (x.has_value())
    state->add({fcinfo, call, *x});
  else
    ++state->skipped;
  // After the first row, and as often as their number doubles: states of wide rows grow.
  const std::int64_t rows = state->model.count_row();
  if ((rows & (rows - 1)) == 0) state->model.tell_size(context, state->bytes());
  return returned(fcinfo, state);
}

}  // namespace margin::pg

using namespace margin::pg;

/// (state, state) -> state
MARGIN_FUNCTION(margin_pass_combine) {
  MemoryContext context = aggregate_context(fcinfo);
  PassState* const other = state_of(fcinfo, 1);
  if (other == nullptr) return returned(fcinfo, state_of(fcinfo, 0));
  PassState* state = state_of(fcinfo, 0);
  if (state == nullptr)
    state = other->kind.make({&other->kind, context, other->model.bytes(), other->options_text, true, other->weighted,
                              other->grouped, false});
  state->model.require_same(other->model);
  require_same_options(state->options_text == other->options_text);
  state->skipped += other->skipped;
  state->merge(*other);
  state->model.tell_size(context, state->bytes());
  return returned(fcinfo, state);
}

/// state -> bytea
MARGIN_FUNCTION(margin_pass_serialize) {
  aggregate_context(fcinfo);
  PassState* const state = state_of(fcinfo, 0);
  StateWriter out;
  const auto* const* const kind = std::find(std::begin(merging), std::end(merging), &state->kind);
  std::int64_t head[] = {state_version, kind - merging, state->weighted ? 1 : 0, state->grouped ? 1 : 0,
                         state->skipped};
  for (std::int64_t& number : head) out(number);
  out(state->model.bytes());
  std::string options = state->options_text;
  out(options);
  state->write(out);
  return out.finish();
}

/// (bytea, internal) -> state
MARGIN_FUNCTION(margin_pass_deserialize) {
  aggregate_context(fcinfo);
  StateReader in(payload(PG_GETARG_DATUM(0)));
  std::int64_t version = 0, kind = 0, weighted = 0, grouped = 0, skipped = 0;
  for (std::int64_t* const number : {&version, &kind, &weighted, &grouped, &skipped}) in(*number);
  in.require(version == state_version && kind >= 0 && kind < static_cast<std::int64_t>(std::size(merging)));
  in.require((weighted == 0 || weighted == 1) && (grouped == 0 || grouped == 1) && skipped >= 0);
  const PassKind* const known = merging[kind];
  PassStart start{known, CurrentMemoryContext, {}, {}, true, weighted == 1, grouped == 1, false};
  in(start.model);
  in(start.options);
  in.require(start.model.size() > SizeofHeapTupleHeader && VARSIZE_ANY(start.model.data()) == start.model.size());
  PassState* const state = known->make(std::move(start));
  state->skipped = skipped;
  in.require(state->read(in));
  in.require_end();
  return returned(fcinfo, state);
}
