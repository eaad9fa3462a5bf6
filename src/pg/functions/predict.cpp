// Functions of a model and one row: margin_score(s), margin_predict, margin_probability, margin_probabilities.
#include "pg/server/memory.hpp"
#include "pg/values/features.hpp"
#include "pg/values/model_datum.hpp"
#include "pg/values/recent.hpp"

namespace margin::pg {
namespace {

/// A class as a value of the type of a witness: the Datum, or the bytes that it points to.
struct TypedClass {
  bool known = false;
  Datum value = 0;
  std::vector<char> bytes;
};

/// A model as a call site keeps it.
struct Predictor {
  std::unique_ptr<const Model> model;
  Scorer scorer;  // of the model, which stays where it is
  ModelRows rows;
  std::vector<double> scores, odds;  // of the row at hand; odds: of calibrated models
  std::vector<TypedClass> typed;

  const Model& operator*() const { return *model; }
  const Model* operator->() const { return model.get(); }
};

/// What a call site keeps for the query: the reader of its features, and the last models it saw.
struct PredictCall {
  explicit PredictCall(FunctionCallInfo fcinfo) : features(fcinfo, 1) {}

  Predictor& predictor(Datum composite) {
    const std::string_view key = argument_key(composite);
    if (Predictor* known = models.find(key)) return *known;
    Predictor fresh;
    fresh.model = std::make_unique<const Model>(decoded(composite));
    fresh.scorer = scorer_of(*fresh);
    fresh.scores.assign(static_cast<std::size_t>(fresh->outputs()), 0.0);
    const double bytes = bytes_of(*fresh) + static_cast<double>(key.size());
    return models.add(key, std::move(fresh), bytes);
  }
  /// The model, with its scores of the row at hand; null for a row that it skips.
  Predictor* score(FunctionCallInfo fcinfo) {
    if (!features.named()) {
      // The row before the model is looked at: memory and the comparison of its bytes work side by side.
      const Row x = features.read(PG_GETARG_DATUM(1));
      ahead.follow(x);
      Predictor& p = predictor(PG_GETARG_DATUM(0));
      if (p->encoder == nullptr) {
        checked_scores(*p, p.scorer, x, p.scores.data());
        return &p;
      }
    }
    Predictor& p = predictor(PG_GETARG_DATUM(0));
    const std::optional<FeatureRow> x = p.rows.read(*p, features, PG_GETARG_DATUM(1));
    if (!x.has_value()) return nullptr;
    checked_scores(*p, p.scorer, *x, p.scores.data());
    return &p;
  }

  FeatureReader features;
  RowPrefetch ahead;
  Recent<Predictor> models;

  // margin_predict with a witness: how to make a value of its type.
  Oid result_type = InvalidOid;
  FmgrInfo input{};
  Oid input_parameter = InvalidOid;
  bool by_value = false;
  int16 length = 0;
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

Datum typed_class(PredictCall& call, Predictor& p, std::int32_t index) {
  p.typed.resize(p->classes.size());
  TypedClass& c = p.typed[static_cast<std::size_t>(index)];
  const bool by_value = call.by_value;
  const int length = call.length;
  if (!c.known) {
    c.value = from_text(call, p->classes[static_cast<std::size_t>(index)].c_str());
    if (!by_value) {
      const Datum fresh = c.value;
      // A copy first: an input function may return an expanded object.
      const Datum flat = backend([=] { return datumCopy(fresh, by_value, length); });
      const auto* from = reinterpret_cast<const char*>(DatumGetPointer(flat));
      c.bytes.assign(from, from + backend([=] { return datumGetSize(flat, by_value, length); }));
    }
    c.known = true;
  }
  if (by_value) return c.value;
  const Datum kept = PointerGetDatum(c.bytes.data());
  return backend([=] { return datumCopy(kept, by_value, length); });
}

/// The log-odds of the row that was scored last.
const double* log_odds(Predictor& p) {
  if (!p->converts_scores()) return p.scores.data();
  p.odds.resize(p.scores.size());
  p->log_odds(p.scores.data(), p.odds.data());
  return p.odds.data();
}

void require_probabilities(const Model& model) {
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
  Predictor* const scored = call.score(fcinfo);
  if (scored == nullptr) PG_RETURN_NULL();
  Predictor& p = *scored;
  if (p->outputs() > 1)
    throw margin::Error(margin::ErrorKind::unsupported,
                        "margin_score needs a model of two classes, this one has " + std::to_string(p->outputs()),
                        "Use margin_scores, which returns one score per class.");
  PG_RETURN_FLOAT8(p.scores[0]);
}

MARGIN_FUNCTION(margin_scores) {
  auto& call = query_state<PredictCall>(fcinfo);
  const Predictor* const scored = call.score(fcinfo);
  if (scored == nullptr) PG_RETURN_NULL();
  const Predictor& p = *scored;
  return float8_array(p.scores.data(), p.scores.size());
}

MARGIN_FUNCTION(margin_predict) {
  auto& call = query_state<PredictCall>(fcinfo);
  Predictor* const scored = call.score(fcinfo);
  if (scored == nullptr) PG_RETURN_NULL();
  Predictor& p = *scored;
  if (p->regression()) return text_datum(number_text(p->prediction(p.scores[0])));
  return text_datum(p->classes[static_cast<std::size_t>(margin::decide(p->outputs(), p.scores.data()))]);
}

// Not strict: the witness is NULL.
MARGIN_FUNCTION(margin_predict_as) {
  if (PG_ARGISNULL(0) || PG_ARGISNULL(1)) PG_RETURN_NULL();
  auto& call = query_state<PredictCall>(fcinfo);
  resolve_result(call, fcinfo);
  Predictor* const scored = call.score(fcinfo);
  if (scored == nullptr) PG_RETURN_NULL();
  Predictor& p = *scored;
  if (!p->regression()) return typed_class(call, p, margin::decide(p->outputs(), p.scores.data()));
  if (call.result_type == FLOAT8OID) PG_RETURN_FLOAT8(p->prediction(p.scores[0]));
  return from_text(call, number_text(p->prediction(p.scores[0])).c_str());
}

MARGIN_FUNCTION(margin_probability) {
  auto& call = query_state<PredictCall>(fcinfo);
  Predictor* const scored = call.score(fcinfo);
  if (scored == nullptr) PG_RETURN_NULL();
  Predictor& p = *scored;
  require_probabilities(*p);
  if (p->outputs() > 1)
    throw margin::Error(margin::ErrorKind::unsupported,
                        "margin_probability needs a model of two classes, this one has " + std::to_string(p->outputs()),
                        "Use margin_probabilities, which returns one probability per class.");
  PG_RETURN_FLOAT8(margin::sigmoid(*log_odds(p)));
}

MARGIN_FUNCTION(margin_probabilities) {
  auto& call = query_state<PredictCall>(fcinfo);
  Predictor* const scored = call.score(fcinfo);
  if (scored == nullptr) PG_RETURN_NULL();
  Predictor& p = *scored;
  require_probabilities(*p);
  std::vector<double> out(p->classes.size());
  margin::probabilities(log_odds(p), p->outputs(), out.data());
  return float8_array(out.data(), out.size());
}
