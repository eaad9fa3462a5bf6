// The aggregate train_margin: rows are collected in the aggregate's memory context, past a share of
// margin.memory_limit in a temporary file; the final function trains.
#include "pg/functions/train_agg.hpp"

#include "core/problem/penalty.hpp"
#include "core/scans/train_scans.hpp"
#include "pg/functions/group_errors.hpp"
#include "pg/functions/training_warnings.hpp"
#include "pg/server/interrupts.hpp"
#include "pg/server/memory.hpp"
#include "pg/server/spill.hpp"
#include "pg/values/features.hpp"
#include "pg/values/jsonb.hpp"
#include "pg/values/labels.hpp"
#include "pg/values/model_datum.hpp"
#include "pg/values/row_weight.hpp"

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
  explicit TrainCall(FunctionCallInfo fcinfo) : label(get_fn_expr_argtype(fcinfo->flinfo, 1)), features(fcinfo, 2) {}

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
    state.table = create_in<RowTable>(context, training_columns(open, rules.encoder.exclude), rules.encoder, state.data,
                                      &state.memory);
    table = nullptr;
  }

  LabelReader label;
  FeatureReader features;
  RowBinding binding;               // to the columns of `table`
  const RowTable* table = nullptr;  // only compared
  std::string options;
  RowRules rules;
  bool known = false;
};

TrainState* start(TrainCall& call, MemoryContext context, Datum options, RulesOf rules_of) {
  const RowRules& rules = call.rules_of_options(options, rules_of);
  if (!rules.option_of_rows.empty() && !call.features.of_rows())
    throw Error(ErrorKind::unsupported,
                "option \"" + std::string(rules.option_of_rows) + "\" is about columns, and the features are an array",
                "Give a row with named columns, such as the table's own: train_margin(label, t, ...) FROM t.");
  auto* state = new (allocate_in(context, sizeof(TrainState))) TrainState(context, rules);
  state->data.classes().set_numbers(call.label.numbers());
  if (options != 0) state->options = payload(options);
  return state;
}

RowRules rules_of_training(Value::Object options) { return row_rules(parse_options(options)); }

Label label_of(const LabelReader& reader, Datum value, TrainState& state) {
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
bool add_row(FunctionCallInfo fcinfo, TrainCall& call, TrainState& state, int weight_at) {
  const double weight = weight_at == 0 ? 1.0 : row_weight(fcinfo, weight_at);
  const Datum features = PG_GETARG_DATUM(2);
  if (!call.features.of_rows()) {
    const FeatureRow x = call.features.read(features);
    state.data.append(x, label_of(call.label, PG_GETARG_DATUM(1), state), weight);
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
  return table.append(cells, label_of(call.label, PG_GETARG_DATUM(1), state), weight);
}

/// Which row of the group this is, as far as it can be read.
std::string where(FunctionCallInfo fcinfo, const TrainCall& call, const TrainState& state) {
  std::string label;
  std::optional<FeatureRow> x;
  if (state.data.outcome() != Dataset::Outcome::intervals)
    row_error([&] { label = std::string(call.label.name(PG_GETARG_DATUM(1)).text); });
  if (!call.features.of_rows()) row_error([&] { x = call.features.read(PG_GETARG_DATUM(2)); });
  const std::string text = row_text(label, x.has_value() ? &*x : nullptr);
  return "It is row " + std::to_string(state.rows) + " of its group" + (text.empty() ? "." : ", with " + text + ".");
}

}  // namespace

Datum collect_row(FunctionCallInfo fcinfo, int weight_at, int options_at, RulesOf rules_of, int fold_at) {
  MemoryContext context = aggregate_context(fcinfo);
  auto& call = query_state<TrainCall>(fcinfo);
  if (options_at != 0 && PG_ARGISNULL(options_at))
    throw Error(
        ErrorKind::null_value, "the options are NULL, expected a jsonb object",
        "Does a join find no options for some rows? coalesce(options, '{}') trains with the defaults, a hard margin.");
  const Datum options = options_at == 0 ? Datum{0} : PG_GETARG_DATUM(options_at);
  TrainState* state = nullptr;
  if (PG_ARGISNULL(0)) {
    state = start(call, context, options, rules_of);
  } else {
    state = reinterpret_cast<TrainState*>(PG_GETARG_POINTER(0));
    if (options != 0 ? payload(options) != state->options : !state->options.empty())
      throw Error(ErrorKind::invalid_option, "the options must be the same for every row of a group",
                  "For one model per choice of options, add them to GROUP BY.");
  }
  ++state->rows;
  if (PG_ARGISNULL(1) || PG_ARGISNULL(2)) {
    ++state->skipped;
    PG_RETURN_POINTER(state);
  }
  if (!state->cause.empty()) PG_RETURN_POINTER(state);
  if (call.features.of_rows() && state->table == nullptr) call.start_table(*state, context, PG_GETARG_DATUM(2));
  const auto collect = [&] {
    const std::int32_t fold = fold_at == 0 ? 0 : fold_of(fcinfo, fold_at);
    if (!add_row(fcinfo, call, *state, weight_at))
      ++state->skipped;
    else if (fold_at != 0)
      state->folds.push_back(fold);
  };
  if (const auto error = row_error(collect)) {
    if (!state->null_for_error) throw located(*error, where(fcinfo, call, *state));
    state->cause = error->message();
    state->where = where(fcinfo, call, *state);
  }
  PG_RETURN_POINTER(state);
}

std::optional<CollectedRows> collected_rows(FunctionCallInfo fcinfo, GroupWarnings& warnings) {
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
                     state->folds.empty() ? nullptr : state->folds.data()};
  if (state->table == nullptr) return rows;
  InterruptProgress progress;
  std::shared_ptr<const Encoder> encoder = state->table->fit(progress);
  auto encoded = state->table->encode(*encoder, progress, rows.memory);
  const Dataset& data = *encoded;
  return CollectedRows{data,
                       std::move(encoder),
                       std::move(encoded),
                       std::string(state->table->label_column()),
                       std::move(rows.options),
                       rows.skipped,
                       rows.null_for_error,
                       rows.memory,
                       rows.folds};
}

std::shared_ptr<const Encoder> collected_encoder(FunctionCallInfo fcinfo) {
  aggregate_context(fcinfo);
  if (PG_ARGISNULL(0)) return nullptr;
  const auto* state = reinterpret_cast<const TrainState*>(PG_GETARG_POINTER(0));
  if (state->data.rows() == 0) return nullptr;
  if (state->table == nullptr)
    throw Error(ErrorKind::wrong_type, "only rows with named columns have an encoder, not arrays",
                "Give a row of the table: margin_encoder(label, t) FROM t.");
  InterruptProgress progress;
  return state->table->fit(progress);
}

RowRules row_rules(const Options& settings) {
  return {outcome_of(settings), settings.null_for_error, encoder_rules(settings), option_of_rows(settings)};
}

Options settings_for(const CollectedRows& rows, Options settings) {
  if (rows.encoder != nullptr) name_penalties(settings, *rows.encoder);
  if (rows.encoder == nullptr || !settings.standardize) return settings;
  settings.standardize = false;
  if (rows.data.outcome() != Dataset::Outcome::targets || settings.hard_margin()) return settings;
  InterruptProgress progress;
  settings.target_scale = target_deviation({rows.data}, progress);
  return settings;
}

Datum trained_model(FunctionCallInfo fcinfo, Model& model, Value::Object options) {
  options.erase("initial");  // a start, not part of what the model means, and as large as a model
  model.options = std::move(options);
  return model_datum(fcinfo, model);
}

namespace {

/// What all groups of a query share: the last progress line, and how many warnings were given.
struct FinalCall {
  explicit FinalCall(FunctionCallInfo) {}
  SessionProgress::Clock::time_point last_line{};
  TrainingWarnings warnings;
  GroupWarnings groups;
  int labels_among_columns = 0;
};

void warn_of_label(FinalCall& call, const std::string& column) {
  constexpr int most = 5;
  if (column.empty() || ++call.labels_among_columns > most) return;
  warn("column \"" + column + "\" of the features tells the label of every row",
       "If it is the label, or known only with it, leave it out: margin_options(exclude => '{" + column + "}').");
}

}  // namespace
}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(margin_train_step) { return collect_row(fcinfo, 0, 0, rules_of_training); }
MARGIN_FUNCTION(margin_train_step_options) { return collect_row(fcinfo, 0, 3, rules_of_training); }
MARGIN_FUNCTION(margin_train_step_weight_options) { return collect_row(fcinfo, 3, 4, rules_of_training); }

MARGIN_FUNCTION(margin_train_final) {
  auto& call = query_state<FinalCall>(fcinfo);
  std::optional<CollectedRows> rows = collected_rows(fcinfo, call.groups);
  if (!rows.has_value()) PG_RETURN_NULL();
  const margin::Options settings = settings_for(*rows, margin::parse_options(rows->options));
  if (margin::without_model(rows->data, settings)) PG_RETURN_NULL();
  require_storable(rows->data, settings);
  const bool about_margin = settings.hard_margin() && settings.loss != "interpolate";
  SessionProgress progress(settings.log_level, about_margin, call.last_line);
  margin::Model model;
  if (!attempt(*rows, call.groups, [&] {
        margin::named_features(rows->encoder.get(),
                               [&] { model = margin::train_or_scan(rows->data, settings, progress, rows->memory); });
      }))
    PG_RETURN_NULL();
  warn_of_label(call, rows->label_column);
  call.warnings.give(model, settings);
  model.skipped = rows->skipped;
  model.encoder = rows->encoder;
  return trained_model(fcinfo, model, std::move(rows->options));
}
