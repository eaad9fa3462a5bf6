// What the aggregates over (model, label, features) have in common: one pass, a state of the size of the model, and
// partial aggregation in parallel workers.
#pragma once

#include "pg/server/memory.hpp"
#include "pg/values/features.hpp"
#include "pg/values/jsonb.hpp"
#include "pg/values/labels.hpp"
#include "pg/values/model_datum.hpp"
#include "pg/values/state_bytes.hpp"

namespace margin::pg {

/// The readers of a call site.
struct PassCall {
  explicit PassCall(FunctionCallInfo fcinfo) : label(get_fn_expr_argtype(fcinfo->flinfo, 2)), features(fcinfo, 3) {}
  LabelReader label;
  FeatureReader features;
};

/// The model of a group, which must be the same in all its rows.
class GroupModel {
 public:
  /// `flat`: a margin_model without toast pointers.
  explicit GroupModel(std::string flat);
  GroupModel(const GroupModel&) = delete;  // the index and the scorer point into the model
  GroupModel& operator=(const GroupModel&) = delete;

  /// The state has these bytes beside its model. A HashAggregate counts the memory of its groups by their context and knows
  /// nothing of what C++ allocates: as many bytes of the context are taken, and never touched.
  void tell_size(MemoryContext context, double bytes);
  /// How many rows there were, this one too.
  std::int64_t count_row() { return ++rows_seen_; }

  /// This model, as a row has it: the next one that has the same is known without reading it.
  void know(Datum composite) { key_ = argument_key(composite); }
  /// Throws Error(invalid_option) when `composite` is another model.
  void require_same(Datum composite);
  void require_same(const GroupModel& other) const;
  const Model& operator*() const { return model_; }
  const Model* operator->() const { return &model_; }
  const Scorer& scorer() const { return scorer_; }
  /// Throws Error(invalid_value) listing the known classes.
  std::int32_t class_index(std::string_view name) const { return classes_.find(name); }
  std::string& bytes() { return flat_; }
  /// The features of a row; nothing for one that the model skips.
  std::optional<FeatureRow> read(FeatureReader& reader, Datum value) { return rows_.read(model_, reader, value); }

 private:
  std::string flat_, key_;
  std::int64_t rows_seen_ = 0;
  void* told_ = nullptr;
  double told_bytes_ = 0;
  const Model model_;
  const Scorer scorer_;
  const ClassIndex classes_;
  ModelRows rows_;
};

/// The bytes of a margin_model without toast pointers.
std::string flat_model(Datum composite);

/// Throws Error(invalid_option) unless the options of a row are those of its group.
void require_same_options(bool same);

template <class State, class = void>
struct has_bytes : std::false_type {};
template <class State>
struct has_bytes<State, std::void_t<decltype(std::declval<const State&>().bytes())>> : std::true_type {};

/// True when the rows of this aggregate are not split among processes, so that they come in the order of the query.
bool sees_all_rows(FunctionCallInfo fcinfo);

/// After the first row, and as often as their number doubles: states of wide rows grow.
template <class State>
void tell_size(MemoryContext context, State& state, std::int64_t rows) {
  if ((rows & (rows - 1)) != 0) return;
  if constexpr (has_bytes<State>::value)
    state.model.tell_size(context, state.bytes());
  else
    state.model.tell_size(context, 0);
}

/// (state, model, label, features) -> state. State has: State(std::string flat_model, bool all_rows), and members
/// `model` (GroupModel) and `skipped`; add(state, PassCall&, const Row&) adds a row.
template <class State, class Add>
Datum pass_step(FunctionCallInfo fcinfo, const Add& add) {
  MemoryContext context = aggregate_context(fcinfo);
  auto& call = query_state<PassCall>(fcinfo);
  auto* state = PG_ARGISNULL(0) ? nullptr : reinterpret_cast<State*>(PG_GETARG_POINTER(0));
  if (PG_ARGISNULL(1)) {  // no model's row: not counted, wherever it comes in the order
    if (state == nullptr) PG_RETURN_NULL();
    PG_RETURN_POINTER(state);
  }
  const Datum model = PG_GETARG_DATUM(1);
  if (state == nullptr) {
    state = create_in<State>(context, flat_model(model), sees_all_rows(fcinfo));
    state->model.know(model);
  } else {
    state->model.require_same(model);
  }
  const std::optional<FeatureRow> x =
      PG_ARGISNULL(2) || PG_ARGISNULL(3) ? std::nullopt : state->model.read(call.features, PG_GETARG_DATUM(3));
  if (x.has_value())
    add(*state, call, *x);
  else
    ++state->skipped;
  tell_size(context, *state, state->model.count_row());
  PG_RETURN_POINTER(state);
}

/// State has add(PassCall&, Datum label, const Row&).
template <class State>
Datum pass_step(FunctionCallInfo fcinfo) {
  return pass_step<State>(fcinfo,
                          [&](State& state, PassCall& call, const Row& x) { state.add(call, PG_GETARG_DATUM(2), x); });
}

/// The same with options, whose argument number is `options_at` (0: none). State has a member `options_text`, a jsonb without its header,
/// too; make(context, flat_model, options) makes one, add(state, call, row) adds a row.
template <class Call, class State, class Make, class Add>
Datum pass_step_with_options(FunctionCallInfo fcinfo, int options_at, const Make& make, const Add& add) {
  MemoryContext context = aggregate_context(fcinfo);
  auto& call = query_state<Call>(fcinfo);
  auto* state = PG_ARGISNULL(0) ? nullptr : reinterpret_cast<State*>(PG_GETARG_POINTER(0));
  if (PG_ARGISNULL(1)) {
    if (state == nullptr) PG_RETURN_NULL();
    PG_RETURN_POINTER(state);
  }
  if (options_at != 0 && PG_ARGISNULL(options_at))
    throw Error(ErrorKind::null_value, "the options are NULL, expected a jsonb object", "'{}' means the defaults.");
  const std::string_view options = options_at != 0 ? payload(PG_GETARG_DATUM(options_at)) : std::string_view();
  const Datum model = PG_GETARG_DATUM(1);
  if (state == nullptr) {
    state = make(context, flat_model(model), std::string(options));
    state->model.know(model);
  } else {
    state->model.require_same(model);
    require_same_options(options == state->options_text);
  }
  const std::optional<FeatureRow> x =
      PG_ARGISNULL(2) || PG_ARGISNULL(3) ? std::nullopt : state->model.read(call.features, PG_GETARG_DATUM(3));
  if (x.has_value())
    add(*state, call, *x);
  else
    ++state->skipped;
  tell_size(context, *state, state->model.count_row());
  PG_RETURN_POINTER(state);
}

/// State also has: merge(const State&).
template <class State>
Datum pass_combine(FunctionCallInfo fcinfo) {
  MemoryContext context = aggregate_context(fcinfo);
  if (PG_ARGISNULL(1)) {
    if (PG_ARGISNULL(0)) PG_RETURN_NULL();
    return PG_GETARG_DATUM(0);
  }
  auto* other = reinterpret_cast<State*>(PG_GETARG_POINTER(1));
  auto* state = PG_ARGISNULL(0) ? create_in<State>(context, other->model.bytes(), false)
                                : reinterpret_cast<State*>(PG_GETARG_POINTER(0));
  state->model.require_same(other->model);
  state->skipped += other->skipped;
  state->merge(*other);
  tell_size(context, *state, 1);
  PG_RETURN_POINTER(state);
}

/// State also has: bool exchange(Archive&).
template <class State>
Datum pass_serialize(FunctionCallInfo fcinfo) {
  aggregate_context(fcinfo);
  auto* state = reinterpret_cast<State*>(PG_GETARG_POINTER(0));
  StateWriter out;
  std::int64_t version = state_version;
  out(version);
  out(state->model.bytes());
  out(state->skipped);
  state->exchange(out);
  return out.finish();
}

template <class State>
Datum pass_deserialize(FunctionCallInfo fcinfo) {
  aggregate_context(fcinfo);
  StateReader in(payload(PG_GETARG_DATUM(0)));
  std::int64_t version = 0;
  std::string model;
  in(version);
  in.require(version == state_version);
  in(model);
  in.require(model.size() > SizeofHeapTupleHeader && VARSIZE_ANY(model.data()) == model.size());
  auto* state = create_in<State>(CurrentMemoryContext, std::move(model), false);
  in(state->skipped);
  in.require(state->skipped >= 0 && state->exchange(in));
  in.require_end();
  PG_RETURN_POINTER(state);
}

}  // namespace margin::pg
