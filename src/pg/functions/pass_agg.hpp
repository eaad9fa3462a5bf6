// What the aggregates over (model, label, features [, weight] [, options]) have in common: one step, and for those whose
// state is of the size of the model one combine, serialize and deserialize function, so that workers share their rows.
#pragma once

#include "pg/functions/row_arguments.hpp"
#include "pg/server/memory.hpp"
#include "pg/values/features.hpp"
#include "pg/values/jsonb.hpp"
#include "pg/values/labels.hpp"
#include "pg/values/model_datum.hpp"
#include "pg/values/state_bytes.hpp"

namespace margin::pg {

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

/// Which arguments of a transition function are which; 0: rows have no label.
struct RowLayout {
  int label = 2, features = 3, trailing = 4;
  const char* group = "";  ///< what messages call the argument between weight and options
};

/// What a call site keeps for the query.
struct PassCall {
  PassCall(FunctionCallInfo fcinfo, const RowLayout& row_layout)
      : layout(row_layout), arguments(fcinfo, row_layout.trailing), features(fcinfo, row_layout.features) {
    if (layout.label != 0) label.emplace(get_fn_expr_argtype(fcinfo->flinfo, layout.label));
    if (arguments.group != 0) group.emplace(get_fn_expr_argtype(fcinfo->flinfo, arguments.group), layout.group);
  }
  const RowLayout layout;
  const RowArguments arguments;
  std::optional<LabelReader> label, group;
  FeatureReader features;
};

/// A row with its features, and its label where rows have one.
struct PassRow {
  FunctionCallInfo fcinfo;
  PassCall& call;
  const FeatureRow& features;

  Datum label() const { return PG_GETARG_DATUM(call.layout.label); }
  double weight() const { return call.arguments.weight_of(fcinfo); }
};

struct PassKind;

/// What a state begins with.
struct PassStart {
  const PassKind* kind;
  MemoryContext context;
  std::string model;    ///< flat
  std::string options;  ///< a jsonb without its header; empty: none
  bool labelled, weighted, grouped;
  bool all_rows;  ///< they are not split among processes, so that they come in the order of the query
};

/// A group of an aggregate.
class PassState {
 public:
  explicit PassState(PassStart&& start)
      : model(std::move(start.model)),
        options_text(std::move(start.options)),
        kind(*start.kind),
        weighted(start.weighted),
        grouped(start.grouped) {}
  virtual ~PassState() = default;

  virtual void add(const PassRow& row) = 0;
  /// Beside the model, as it has grown so far.
  virtual double bytes() const { return 0; }
  /// Of the same model and options over other rows; their numbers as bytes, and back into a fresh state (false: malformed).
  /// Not of states that keep their rows.
  virtual void merge(const PassState& other);
  virtual void write(StateWriter& out) const;
  virtual bool read(StateReader& in);

  /// The label of a row as a sorted class. Throws Error(invalid_value) for one that the model does not know.
  std::int32_t class_of(const PassRow& row) {
    return labels_.find(*row.call.label, row.label(),
                        [&](const LabelReader::ClassName& name) { return model.class_index(name.text); });
  }
  /// The row in the columns of the model, finite.
  Row finite_row(const PassRow& row) const;
  Value::Object given() const;

  GroupModel model;
  const std::string options_text;
  const PassKind& kind;
  const bool weighted, grouped;
  std::int64_t skipped = 0;

 private:
  LabelCache labels_;
};

/// The kinds of states. Their list, in pass_agg.cpp, is what serialized states are known by.
struct PassKind {
  PassState* (*make)(PassStart&& start);
  const char* null_options = "'{}' means the defaults.";  ///< the hint where options are NULL
};

template <class State>
PassState* make_state(PassStart&& start) {
  return create_in<State>(start.context, std::move(start));
}

/// The transition function: (state, model, label, features [, weight] [, options]) or as the layout says.
Datum pass_step(FunctionCallInfo fcinfo, const PassKind& kind, const RowLayout& layout = {});

/// The state of a final function; null: there was no row.
template <class State>
State* final_state(FunctionCallInfo fcinfo) {
  aggregate_context(fcinfo);
  return PG_ARGISNULL(0) ? nullptr
                         : static_cast<State*>(reinterpret_cast<PassState*>(DatumGetPointer(PG_GETARG_DATUM(0))));
}

}  // namespace margin::pg
