// Functions of a model and one row: margin_score(s), margin_predict, margin_probability, margin_probabilities.
#include "features.hpp"
#include "memory.hpp"
#include "model_datum.hpp"

namespace margin::pg {
namespace {

/// What a call site keeps for the query: the reader of its features, and the last model it saw.
struct PredictCall {
  explicit PredictCall(FunctionCallInfo fcinfo) : features(fcinfo, 1) {}

  const StoredModel& model(Datum composite) {
    if (cache.update(composite)) {
      scores.assign(static_cast<std::size_t>(cache.model().outputs), 0.0);
      typed.clear();
    }
    return cache.model();
  }
  /// The model's scores of the row at hand, kept in `scores`.
  const StoredModel& score(FunctionCallInfo fcinfo) {
    const Row x = features.read(PG_GETARG_DATUM(1));
    ahead.follow(x);  // before the model is looked at: memory and the comparison of its bytes work side by side
    const StoredModel& m = model(PG_GETARG_DATUM(0));
    checked_scores(m, x, scores.data());
    return m;
  }

  FeatureReader features;
  RowPrefetch ahead;
  ModelCache cache;
  std::vector<double> scores, odds;  // odds: of calibrated models

  // margin_predict with a witness: how to make a value of its type, and the classes as such values.
  Oid result_type = InvalidOid;
  FmgrInfo input{};
  Oid input_parameter = InvalidOid;
  bool by_value = false;
  int16 length = 0;
  std::vector<std::optional<Datum>> typed;
};

void resolve_result(PredictCall& call, FunctionCallInfo fcinfo) {
  const Oid type = get_fn_expr_argtype(fcinfo->flinfo, 2);
  if (type == call.result_type) return;
  PredictCall* c = &call;
  MemoryContext keep = fcinfo->flinfo->fn_mcxt;
  backend([=] {
    Oid function = InvalidOid;
    getTypeInputInfo(type, &function, &c->input_parameter);
    fmgr_info_cxt(function, &c->input, keep);
    get_typlenbyval(type, &c->length, &c->by_value);
  });
  call.result_type = type;
}

Datum from_text(PredictCall& call, const char* text) {
  PredictCall* c = &call;
  return backend([=] { return InputFunctionCall(&c->input, const_cast<char*>(text), c->input_parameter, -1); });
}

Datum typed_class(PredictCall& call, const StoredModel& model, std::int32_t index, MemoryContext keep) {
  call.typed.resize(model.classes.size());
  auto& known = call.typed[static_cast<std::size_t>(index)];
  const bool by_value = call.by_value;
  const int length = call.length;
  if (!known.has_value()) {
    const Datum fresh = from_text(call, model.classes[static_cast<std::size_t>(index)].c_str());
    known = backend([=] {
      MemoryContext caller = MemoryContextSwitchTo(keep);
      const Datum kept = datumCopy(fresh, by_value, length);
      MemoryContextSwitchTo(caller);
      return kept;
    });
  }
  if (by_value) return *known;
  const Datum kept = *known;
  return backend([=] { return datumCopy(kept, by_value, length); });
}

/// The log-odds of the row that was scored last.
const double* log_odds(PredictCall& call, const StoredModel& model) {
  if (model.calibration.empty()) return call.scores.data();
  call.odds.resize(call.scores.size());
  model.calibration.log_odds(call.scores.data(), call.odds.data());
  return call.odds.data();
}

void require_probabilities(const StoredModel& model) {
  if (model.probabilistic()) return;
  throw Error(
      ErrorKind::unsupported,
      "the model gives no probabilities: it was trained " +
          (model.lambda.has_value() ? "with the loss \"" + model.loss + "\"" : std::string("for a hard margin")),
      "Train with lambda and loss => 'logistic', or with calibration => 'platt', or use margin_score.");
}

}  // namespace
}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(margin_score) {
  auto& call = query_state<PredictCall>(fcinfo);
  const StoredModel& model = call.score(fcinfo);
  if (model.outputs > 1)
    throw margin::Error(margin::ErrorKind::unsupported,
                        "margin_score needs a model of two classes, this one has " + std::to_string(model.outputs),
                        "Use margin_scores, which returns one score per class.");
  PG_RETURN_FLOAT8(call.scores[0]);
}

MARGIN_FUNCTION(margin_scores) {
  auto& call = query_state<PredictCall>(fcinfo);
  call.score(fcinfo);
  return float8_array(call.scores.data(), call.scores.size());
}

MARGIN_FUNCTION(margin_predict) {
  auto& call = query_state<PredictCall>(fcinfo);
  const StoredModel& model = call.score(fcinfo);
  if (model.regression()) return text_datum(number_text(call.scores[0]));
  return text_datum(model.classes[static_cast<std::size_t>(margin::decide(model.scorer(), call.scores.data()))]);
}

// Not strict: the witness is NULL.
MARGIN_FUNCTION(margin_predict_as) {
  if (PG_ARGISNULL(0) || PG_ARGISNULL(1)) PG_RETURN_NULL();
  auto& call = query_state<PredictCall>(fcinfo);
  resolve_result(call, fcinfo);
  const StoredModel& model = call.score(fcinfo);
  if (!model.regression())
    return typed_class(call, model, margin::decide(model.scorer(), call.scores.data()), fcinfo->flinfo->fn_mcxt);
  if (call.result_type == FLOAT8OID) PG_RETURN_FLOAT8(call.scores[0]);
  return from_text(call, number_text(call.scores[0]).c_str());
}

MARGIN_FUNCTION(margin_probability) {
  auto& call = query_state<PredictCall>(fcinfo);
  const StoredModel& model = call.score(fcinfo);
  require_probabilities(model);
  if (model.outputs > 1)
    throw margin::Error(
        margin::ErrorKind::unsupported,
        "margin_probability needs a model of two classes, this one has " + std::to_string(model.outputs),
        "Use margin_probabilities, which returns one probability per class.");
  PG_RETURN_FLOAT8(margin::sigmoid(*log_odds(call, model)));
}

MARGIN_FUNCTION(margin_probabilities) {
  auto& call = query_state<PredictCall>(fcinfo);
  const StoredModel& model = call.score(fcinfo);
  require_probabilities(model);
  std::vector<double> out(model.classes.size());
  margin::probabilities(log_odds(call, model), model.outputs, out.data());
  return float8_array(out.data(), out.size());
}
