// The aggregate train_margin: rows are collected in the aggregate's memory context, the final function trains.
#include "train_agg.hpp"

#include "features.hpp"
#include "labels.hpp"
#include "memory.hpp"
#include "model_datum.hpp"
#include "monitor.hpp"
#include "options.hpp"

namespace margin::pg {
namespace {

/// One group's rows. All its memory is the aggregate context's: it may be abandoned at any time.
struct TrainState {
  TrainState(MemoryContext context, Dataset::Outcome outcome)
      : memory(context, memory_limit(), &rows), options(&memory), data(outcome, &memory) {}

  std::int64_t rows = 0, skipped = 0;
  ContextResource memory;
  std::pmr::string options;  // payload of the jsonb, the same for every row; empty: none given
  LabelCache labels;
  Dataset data;
};

/// What a call site of the transition function keeps for the query.
struct TrainCall {
  explicit TrainCall(FunctionCallInfo fcinfo) : label(get_fn_expr_argtype(fcinfo->flinfo, 1)), features(fcinfo, 2) {}

  /// Which outcome the options ask for; parsed again only when they change.
  Dataset::Outcome outcome_of_options(Datum jsonb, OutcomeOf outcome_of) {
    const std::string_view bytes = jsonb == 0 ? std::string_view{} : payload(jsonb);
    if (known && bytes == options) return outcome;
    outcome = outcome_of(jsonb == 0 ? Value::Object{} : options_from(jsonb));
    options = bytes;
    known = true;
    return outcome;
  }

  LabelReader label;
  FeatureReader features;
  std::string options;
  Dataset::Outcome outcome = Dataset::Outcome::classes;
  bool known = false;
};

TrainState* start(TrainCall& call, MemoryContext context, Datum options, OutcomeOf outcome_of) {
  const Dataset::Outcome outcome = call.outcome_of_options(options, outcome_of);
  auto* state = new (allocate_in(context, sizeof(TrainState))) TrainState(context, outcome);
  state->data.classes().set_numbers(call.label.numbers());
  if (options != 0) state->options = payload(options);
  return state;
}

double row_weight(FunctionCallInfo fcinfo, int argument) {
  if (PG_ARGISNULL(argument))
    throw Error(ErrorKind::null_value, "the row weight is NULL, expected a number of 0 or more",
                "Use coalesce(weight, 1), or leave such rows out with FILTER (WHERE ...).");
  const double weight = PG_GETARG_FLOAT8(argument);
  if (!(weight >= 0) || !std::isfinite(weight))
    throw Error(ErrorKind::invalid_value,
                "the row weight is " + number_text(weight) + ", expected a finite number of 0 or more");
  return weight;
}

Dataset::Outcome outcome_of_training(Value::Object options) { return outcome_of(parse_settings(options)); }

}  // namespace

Datum collect_row(FunctionCallInfo fcinfo, int weight_at, int options_at, OutcomeOf outcome_of) {
  MemoryContext context = aggregate_context(fcinfo);
  auto& call = query_state<TrainCall>(fcinfo);
  const Datum options = options_at == 0 || PG_ARGISNULL(options_at) ? Datum{0} : PG_GETARG_DATUM(options_at);
  TrainState* state = nullptr;
  if (PG_ARGISNULL(0)) {
    state = start(call, context, options, outcome_of);
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
  const double weight = weight_at == 0 ? 1.0 : row_weight(fcinfo, weight_at);
  const FeatureRow x = call.features.read(PG_GETARG_DATUM(2));
  if (state->data.outcome() == Dataset::Outcome::intervals) {
    const LabelReader::Interval target = call.label.interval(PG_GETARG_DATUM(1));
    append(state->data, x, target.lower, weight);
    state->data.set_upper_target(target.upper);
    PG_RETURN_POINTER(state);
  }
  if (state->data.outcome() == Dataset::Outcome::targets) {
    append(state->data, x, call.label.number(PG_GETARG_DATUM(1)), weight);
    PG_RETURN_POINTER(state);
  }
  const std::int32_t index = state->labels.find(
      call.label, PG_GETARG_DATUM(1),
      [&](const LabelReader::ClassName& name) { return state->data.classes().intern(name.text, name.key); });
  append(state->data, x, index, weight);
  PG_RETURN_POINTER(state);
}

std::optional<CollectedRows> collected_rows(FunctionCallInfo fcinfo) {
  aggregate_context(fcinfo);
  if (PG_ARGISNULL(0)) return std::nullopt;
  const auto* state = reinterpret_cast<const TrainState*>(PG_GETARG_POINTER(0));
  if (state->data.rows() == 0) return std::nullopt;
  require_classes(state->data);
  Value::Object options;
  if (!state->options.empty()) options = options_from(jsonb_of_payload(state->options));
  return CollectedRows{state->data, std::move(options), state->skipped, state->memory.left()};
}

namespace {

/// What all groups of a query share: the last progress line, and how many warnings were given.
struct FinalCall {
  explicit FinalCall(FunctionCallInfo) {}
  SessionMonitor::Clock::time_point last_line{};
  int warnings = 0;
};

// A statement that trains many groups would drown in warnings; every model says the same in its status.
constexpr int most_warnings = 5;

std::string figure(double value) {
  char text[32];
  snprintf(text, sizeof text, "%.4g", value);
  return text;
}

/// A target that was not reached is worth a warning: what is certified, and what to change.
void warn_unless_optimal(const Model& model, bool about_margin, FinalCall& call) {
  if (model.status == Status::optimal || ++call.warnings > most_warnings + 1) return;
  if (call.warnings == most_warnings + 1) {
    warn("further models of this statement did not reach their target either",
         "Their status, margin_lower and margin_upper (or primal and dual) tell what each reached.");
    return;
  }
  const Certificate& c = model.certificate;
  const bool interpolation = model.loss == "interpolate";
  const std::string reached =
      interpolation ? "weights that meet the targets have half a squared norm of at least " + figure(c.dual) +
                          ", those of the model have " + figure(c.primal) + " and miss by up to " +
                          figure(std::max(0.0, -c.slack))
      : about_margin ? "the margin is certified to lie in [" + figure(c.primal) + ", " + figure(c.dual) + "]"
                     : "the optimum is certified to lie in [" + figure(c.dual) + ", " + figure(c.primal) + "]";
  if (model.status == Status::not_separable && interpolation) {
    warn("no weights meet the targets of all " + std::to_string(model.rows) + " rows: they contradict each other",
         "Give ranges as labels, or lambda and a regression loss, to trade errors.");
    return;
  }
  if (model.status == Status::not_separable) {
    const bool softened = model.solver.find("cutting_plane+newton") != std::string::npos ||
                          model.solver.find("cutting_plane+sdca") != std::string::npos;
    warn("training of " + std::to_string(model.rows) + " rows found no separator: " + reached + "; " +
             std::to_string(c.errors) + " rows have a margin of 0 or less",
         std::string("Give lambda, for example margin_options(lambda => 1e-4), to trade errors for a margin") +
             (softened ? "; without it, the weights are those of a logistic loss with little regularisation." : "."));
    return;
  }
  const bool time = model.status == Status::time_limit;
  warn("training stopped before the tolerance " + figure(model.tolerance) + " was reached (" +
           (time ? "max_seconds" : "no further progress or max_iterations") + "): " + reached,
       time
           ? "Raise max_seconds or tolerance, or try another solver; the model and its interval are valid."
           : "Raise max_iterations or tolerance, scale the features, or try another solver; the model and its interval "
             "are valid.");
}

}  // namespace
}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(margin_train_step) { return collect_row(fcinfo, 0, 0, outcome_of_training); }
MARGIN_FUNCTION(margin_train_step_options) { return collect_row(fcinfo, 0, 3, outcome_of_training); }
MARGIN_FUNCTION(margin_train_step_weight_options) { return collect_row(fcinfo, 3, 4, outcome_of_training); }

MARGIN_FUNCTION(margin_train_final) {
  std::optional<CollectedRows> rows = collected_rows(fcinfo);
  if (!rows.has_value()) PG_RETURN_NULL();
  const margin::Settings settings = margin::parse_settings(rows->options);
  if (margin::without_model(rows->data, settings)) PG_RETURN_NULL();
  require_storable(rows->data, settings);
  auto& call = query_state<FinalCall>(fcinfo);
  const bool about_margin = settings.hard_margin() && settings.loss != "interpolate";
  SessionMonitor monitor(settings.log_level, about_margin, call.last_line);
  const margin::Model model = margin::train(rows->data, settings, monitor, rows->memory_left);
  warn_unless_optimal(model, about_margin, call);
  rows->options.erase("initial");  // a start, not part of what the model means, and as large as a model
  return model_datum(fcinfo, model, rows->skipped, rows->options);
}
