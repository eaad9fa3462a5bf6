// What the aggregates over (model, label, features [, weight] [, options]) have in common that keep their rows, as train_margin does.
#pragma once

#include "pg/functions/pass_agg.hpp"
#include "pg/server/spill.hpp"
#include "pg/values/row_weight.hpp"

namespace margin::pg {

/// The rows of a group, whose memory is the aggregate context's: no destructor runs.
struct CollectedGroup {
  CollectedGroup(MemoryContext context, Dataset::Outcome outcome)
      : memory(context, memory_limit(), &rows),
        store(context, std::max(0.0, memory_limit())),
        data(outcome, &memory, memory_limit() < 0 ? nullptr : &store) {}
  std::int64_t rows = 0;
  ContextResource memory;
  SpillStore store;
  Dataset data;
};

/// A state has: State(MemoryContext, std::string flat_model, std::string options), and a base of this type.
struct GroupState {
  GroupState(std::string flat, std::string given_options)
      : model(std::move(flat)), options_text(std::move(given_options)), settings(settings_of(*model)) {}
  Value::Object given() const {
    return options_text.empty() ? Value::Object{} : options_from(jsonb_of_payload(options_text));
  }
  /// Once the model is known to be of the right kind.
  void open(MemoryContext context) {
    kept = new (allocate_in(context, sizeof(CollectedGroup)))
        CollectedGroup(context, model->regression() ? Dataset::Outcome::targets : Dataset::Outcome::classes);
    // In the order of the model, whatever that of the rows.
    for (std::size_t c = 0; c < model->classes.size(); ++c)
      kept->data.classes().intern(model->classes[c], static_cast<double>(c));
  }

  GroupModel model;
  std::string options_text;  // a jsonb without its header
  const Options settings;
  CollectedGroup* kept = nullptr;
  std::int64_t skipped = 0;
  LabelCache labels;
};

/// Argument numbers of the weight and of the options; 0: none.
template <class State>
Datum keep_row(FunctionCallInfo fcinfo, int weight_at, int options_at) {
  const auto make = [](MemoryContext context, std::string flat, std::string options) {
    return create_in<State>(context, context, std::move(flat), std::move(options));
  };
  return pass_step_with_options<PassCall, State>(
      fcinfo, options_at, make, [&](State& state, PassCall& call, const FeatureRow& features) {
        const double weight = weight_at != 0 ? row_weight(fcinfo, weight_at) : 1.0;
        FeatureRow x{};
        static_cast<Row&>(x) = fitted(*state.model, features);
        x.dimensions = state.model->dimensions;
        ++state.kept->rows;
        if (state.model->regression()) {
          state.kept->data.append(x, call.label.number(PG_GETARG_DATUM(2)), weight);
          return;
        }
        const std::int32_t label =
            state.labels.find(call.label, PG_GETARG_DATUM(2),
                              [&](const LabelReader::ClassName& name) { return state.model.class_index(name.text); });
        state.kept->data.append(x, label, weight);
      });
}

}  // namespace margin::pg
