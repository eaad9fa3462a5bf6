// The aggregates train_margin and train_one_class, up to their final functions (train_final.cpp): rows are collected in
// the aggregate's memory context, past a share of margin.memory_limit in a temporary file.
#include "pg/functions/train_agg.hpp"

#include "core/problem/fairness.hpp"
#include "core/problem/one_class.hpp"
#include "core/train/fold_encoding.hpp"
#include "pg/functions/group_errors.hpp"
#include "pg/functions/row_arguments.hpp"
#include "pg/functions/training_warnings.hpp"
#include "pg/server/interrupts.hpp"
#include "pg/server/memory.hpp"
#include "pg/server/spill.hpp"
#include "pg/values/features.hpp"
#include "pg/values/jsonb.hpp"
#include "pg/values/labels.hpp"
#include "pg/values/model_datum.hpp"

namespace margin::pg {
namespace {

/// One group's rows. All its memory is the aggregate context's: it may be abandoned at any time.
struct TrainState {
  TrainState(MemoryContext context, const RowRules& rules)
      : memory(context, memory_limit(), &rows),
        options(&memory),
        cause(&memory),
        where(&memory),
        folds(&memory),
        store(context, std::max(0.0, memory_limit())),
        data(rules.outcome, &memory, memory_limit() < 0 ? nullptr : &store),
        null_for_error(rules.null_for_error) {}

  std::int64_t rows = 0, skipped = 0;
  ContextResource memory;
  std::pmr::string options;              // payload of the jsonb, the same for every row; empty: none given
  std::pmr::string cause, where;         // of the row that ruined the group; empty: none did
  std::pmr::vector<std::int32_t> folds;  // of the rows in `data`, of calls that give them
  LabelCache labels;
  SpillStore store;
  Dataset data;
  RowTable* table = nullptr;  // of rows with named columns, whose cells `data` has
  bool null_for_error;
};

/// What a call site of the transition function keeps for the query.
struct TrainCall {
  /// Argument numbers of the label (0: the rows have none) and the features.
  TrainCall(FunctionCallInfo fcinfo, int label_argument, int features_argument)
      : label_at(label_argument),
        features_at(features_argument),
        arguments(fcinfo, features_argument + 1),
        features(fcinfo, features_argument) {
    if (label_at != 0) label.emplace(get_fn_expr_argtype(fcinfo->flinfo, label_at));
  }

  /// What the options ask for; parsed again only when they change.
  const RowRules& rules_of_options(Datum jsonb, RulesOf rules_of) {
    const std::string_view bytes = jsonb == 0 ? std::string_view{} : payload(jsonb);
    if (known && bytes == options) return rules;
    rules = rules_of(jsonb == 0 ? Value::Object{} : options_from(jsonb));
    options = bytes;
    known = true;
    return rules;
  }

  /// Collects the rows of a group that begins with this one.
  void start_table(TrainState& state, MemoryContext context, Datum row) {
    const OpenRow& open = features.open(row);
    state.table =
        create_in<RowTable>(context, training_columns(open, rules.encoder), rules.encoder, state.data, &state.memory);
    table = nullptr;
  }

  int label_at, features_at;
  RowArguments arguments;
  std::optional<LabelReader> label;
  FeatureReader features;
  RowPrefetch ahead;
  RowBinding binding;               // to the columns of `table`
  const RowTable* table = nullptr;  // only compared
  std::string options;
  RowRules rules;
  bool known = false;
};

TrainState* start(TrainCall& call, MemoryContext context, Datum options, RulesOf rules_of) {
  if (call.features.of_objects())
    throw Error(
        ErrorKind::wrong_type,
        "features cannot be jsonb in a training: an object does not say the types of its columns",
        "Train on rows, jsonb_populate_record(NULL::table, object) or jsonb_to_record(object) AS t(age integer, ...); "
        "the model then takes jsonb objects. Cast to margin_sparse where keys are numbers of features.");
  const RowRules& rules = call.rules_of_options(options, rules_of);
  if (!rules.option_of_rows.empty() && !call.features.of_rows())
    throw Error(ErrorKind::unsupported,
                "option \"" + std::string(rules.option_of_rows) + "\" is about columns, and the features are an array",
                call.label_at != 0
                    ? "Give a row with named columns, such as the table's own: train_margin(label, t, ...) FROM t."
                    : "Give a row with named columns, such as the table's own: train_one_class(t, ...) FROM t.");
  auto* state = new (allocate_in(context, sizeof(TrainState))) TrainState(context, rules);
  state->data.classes().set_numbers(call.label.has_value() && call.label->numbers());
  if (options != 0) state->options = payload(options);
  return state;
}

RowRules rules_of_training(Value::Object options) { return row_rules(parse_options(options)); }
RowRules rules_of_one_class(Value::Object options) { return row_rules(one_class_options(parse_options(options))); }

Label label_of(FunctionCallInfo fcinfo, const TrainCall& call, TrainState& state) {
  if (call.label_at == 0) return one_class_label(state.data);
  const LabelReader& reader = *call.label;
  const Datum value = PG_GETARG_DATUM(call.label_at);
  if (state.data.outcome() == Dataset::Outcome::intervals) {
    const LabelReader::Interval target = reader.interval(value);
    return {target.lower, target.upper};
  }
  if (state.data.outcome() == Dataset::Outcome::targets) return reader.number(value);
  return state.labels.find(reader, value, [&](const LabelReader::ClassName& name) {
    return state.data.classes().intern(name.text, name.key);
  });
}

/// The fold of this row, an argument of type integer.
std::int32_t fold_of(FunctionCallInfo fcinfo, int number) {
  if (PG_ARGISNULL(number))
    throw Error(ErrorKind::null_value, "the fold is NULL, expected a whole number",
                "Leave such rows out with FILTER (WHERE ...).");
  return PG_GETARG_INT32(number);
}

/// False where the row is left out.
bool add_row(FunctionCallInfo fcinfo, TrainCall& call, TrainState& state) {
  const double weight = call.arguments.weight_of(fcinfo);
  const Datum features = PG_GETARG_DATUM(call.features_at);
  if (!call.features.of_rows()) {
    const FeatureRow x = call.features.read(features);
    call.ahead.follow(x);
    state.data.append(x, label_of(fcinfo, call, state), weight);
    return true;
  }
  const OpenRow& row = call.features.open(features);
  RowTable& table = *state.table;
  if (call.table != &table || !call.binding.bound_to(row)) {
    call.table = nullptr;
    call.binding.bind(table.columns(), row);
    call.table = &table;
  }
  const Cells& cells = call.binding.read(table.columns(), row,
                                         [&](std::size_t j, std::string_view name) { return table.category(j, name); });
  return table.append(cells, label_of(fcinfo, call, state), weight);
}

/// Which row of the group this is, as far as it can be read.
std::string where(FunctionCallInfo fcinfo, const TrainCall& call, const TrainState& state) {
  std::string label;
  std::optional<FeatureRow> x;
  if (call.label_at != 0 && state.data.outcome() != Dataset::Outcome::intervals)
    row_error([&] { label = std::string(call.label->name(PG_GETARG_DATUM(call.label_at)).text); });
  if (!call.features.of_rows()) row_error([&] { x = call.features.read(PG_GETARG_DATUM(call.features_at)); });
  const std::string text = row_text(label, x.has_value() ? &*x : nullptr);
  return "It is row " + std::to_string(state.rows) + " of its group" + (text.empty() ? "." : ", with " + text + ".");
}

Datum collect(FunctionCallInfo fcinfo, TrainCall& call, RulesOf rules_of) {
  MemoryContext context = aggregate_context(fcinfo);
  const RowArguments& arguments = call.arguments;
  const std::string_view given = arguments.options_of(
      fcinfo,
      "Does a join find no options for some rows? coalesce(options, '{}') trains with the defaults, a hard margin.");
  TrainState* state = nullptr;
  if (PG_ARGISNULL(0)) {
    state = start(call, context, arguments.options == 0 ? Datum{0} : PG_GETARG_DATUM(arguments.options), rules_of);
  } else {
    state = reinterpret_cast<TrainState*>(PG_GETARG_POINTER(0));
    if (given != state->options)
      throw Error(ErrorKind::invalid_option, "the options must be the same for every row of a group",
                  "For one model per choice of options, add them to GROUP BY.");
  }
  ++state->rows;
  if ((call.label_at != 0 && PG_ARGISNULL(call.label_at)) || PG_ARGISNULL(call.features_at)) {
    ++state->skipped;
    PG_RETURN_POINTER(state);
  }
  if (!state->cause.empty()) PG_RETURN_POINTER(state);
  if (call.features.of_rows() && state->table == nullptr)
    call.start_table(*state, context, PG_GETARG_DATUM(call.features_at));
  const auto collect_one = [&] {
    const std::int32_t fold = arguments.group == 0 ? 0 : fold_of(fcinfo, arguments.group);
    if (!add_row(fcinfo, call, *state))
      ++state->skipped;
    else if (arguments.group != 0)
      state->folds.push_back(fold);
  };
  if (const auto error = row_error(collect_one)) {
    if (!state->null_for_error) throw located(*error, where(fcinfo, call, *state));
    state->cause = error->message();
    state->where = where(fcinfo, call, *state);
  }
  PG_RETURN_POINTER(state);
}

}  // namespace

Datum collect_row(FunctionCallInfo fcinfo, RulesOf rules_of) {
  return collect(fcinfo, query_state<TrainCall>(fcinfo, 1, 2), rules_of);
}

std::optional<CollectedRows> collected_rows(FunctionCallInfo fcinfo, GroupWarnings& warnings,
                                            SelectionOf selection_of) {
  aggregate_context(fcinfo);
  if (PG_ARGISNULL(0)) return std::nullopt;
  const auto* state = reinterpret_cast<const TrainState*>(PG_GETARG_POINTER(0));
  if (!state->cause.empty()) {
    warnings.give(std::string(state->cause), std::string(state->where));
    return std::nullopt;
  }
  if (state->data.rows() == 0) return std::nullopt;
  require_classes(state->data);
  notice_of_spill(state->data);
  Value::Object options;
  if (!state->options.empty()) options = options_from(jsonb_of_payload(state->options));
  CollectedRows rows{state->data,
                     nullptr,
                     nullptr,
                     {},
                     std::move(options),
                     state->skipped,
                     state->null_for_error,
                     MemoryBudget(state->memory.left()),
                     state->folds.empty() ? nullptr : state->folds.data(),
                     state->table};
  if (state->table == nullptr) return rows;
  return encoded_rows(*state->table, std::move(rows), warnings, selection_of);
}

std::shared_ptr<const Encoder> collected_encoder(FunctionCallInfo fcinfo) {
  aggregate_context(fcinfo);
  if (PG_ARGISNULL(0)) return nullptr;
  const auto* state = reinterpret_cast<const TrainState*>(PG_GETARG_POINTER(0));
  if (state->data.rows() == 0) return nullptr;
  if (state->table == nullptr)
    throw Error(ErrorKind::wrong_type, "only rows with named columns have an encoder, not arrays",
                "Give a row of the table: margin_encoder(label, t) FROM t.");
  if (state->table->rules().interactions.searched()) refuse_search();
  InterruptProgress progress;
  MemoryBudget memory(state->memory.left());
  return state->table->fit(progress, memory);
}

RowRules row_rules(const Options& settings) {
  return {outcome_of(settings), settings.null_for_error, encoder_rules(settings), option_of_rows(settings)};
}

Options settings_for(const CollectedRows& rows, Options settings) {
  if (rows.encoder == nullptr) return settings;
  if (settings.initial.has_value()) start_by_name(*settings.initial, *rows.encoder);
  return encoded_settings(std::move(settings), *rows.encoder, rows.data, InterruptProgress());
}

void keep_options(Model& model, Value::Object options) {
  options.erase("initial");  // a start, not part of what the model means, and as large as a model
  if (!model.parities.empty()) options["fairness"] = margin::fairness_value(model.parities, model.encoder.get());
  model.options = std::move(options);
}

Datum trained_model(FunctionCallInfo fcinfo, Model& model, Value::Object options) {
  keep_options(model, std::move(options));
  return model_datum(fcinfo, model);
}

}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(margin_train_step) { return collect_row(fcinfo, rules_of_training); }
MARGIN_FUNCTION(margin_one_class_step) {
  return collect(fcinfo, query_state<TrainCall>(fcinfo, 0, 1), rules_of_one_class);
}
