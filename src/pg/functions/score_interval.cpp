// Functions of a model and one row that say what its certificate proves of the optimum's scores: margin_score_interval and
// margin_score_intervals.
#include "core/analysis/model_ball.hpp"
#include "pg/server/interrupts.hpp"
#include "pg/server/memory.hpp"
#include "pg/values/features.hpp"
#include "pg/values/model_datum.hpp"
#include "pg/values/recent.hpp"

namespace margin::pg {
namespace {

/// A model as a call site keeps it.
struct Bounded {
  explicit Bounded(Datum composite)
      : model(std::make_unique<const Model>(decoded(composite))),
        bounds(*model, settings_of(*model), InterruptProgress()) {
    lower.resize(static_cast<std::size_t>(model->outputs()));
    upper.resize(lower.size());
  }

  std::unique_ptr<const Model> model;
  ScoreIntervals bounds;  // refers to the model, which stays where it is
  ModelRows rows;
  std::vector<double> lower, upper;  // of the row at hand
  bool certain = false;
};

struct IntervalCall {
  explicit IntervalCall(FunctionCallInfo fcinfo) : features(fcinfo, 1) {}

  /// The model, with the intervals of the row at hand; null for a row that it skips.
  Bounded* bound(FunctionCallInfo fcinfo) {
    Datum composite = PG_GETARG_DATUM(0);
    const std::string_view key = argument_key(composite);
    Bounded* known = models.find(key);
    if (known == nullptr) {
      Bounded fresh(composite);
      const double bytes = 2 * bytes_of(*fresh.model) + static_cast<double>(key.size());
      known = &models.add(key, std::move(fresh), bytes);
    }
    const std::optional<FeatureRow> read = known->rows.read(*known->model, features, PG_GETARG_DATUM(1));
    if (!read.has_value()) return nullptr;
    const Row x = fitted(*known->model, *read);
    require_finite(x, "WHERE");
    known->certain = known->bounds.intervals(x, known->lower.data(), known->upper.data());
    return known;
  }

  FeatureReader features;
  Recent<Bounded> models;
};

}  // namespace
}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(margin_score_interval) {
  Bounded* const b = query_state<IntervalCall>(fcinfo).bound(fcinfo);
  if (b == nullptr) PG_RETURN_NULL();
  if (b->lower.size() > 1)
    throw margin::Error(
        margin::ErrorKind::unsupported,
        "margin_score_interval needs a model of two classes, this one has " + std::to_string(b->lower.size()),
        "Use margin_score_intervals, which returns one interval per class.");
  CompositeBuilder out(fcinfo);
  out.set_float8("lower", b->lower[0]);
  out.set_float8("upper", b->upper[0]);
  if (!b->model->regression()) out.set("certain", BOOLOID, BoolGetDatum(b->certain));
  return out.finish();
}

MARGIN_FUNCTION(margin_score_intervals) {
  Bounded* const b = query_state<IntervalCall>(fcinfo).bound(fcinfo);
  if (b == nullptr) PG_RETURN_NULL();
  CompositeBuilder out(fcinfo);
  out.set("lower", FLOAT8ARRAYOID, float8_array(b->lower.data(), b->lower.size()));
  out.set("upper", FLOAT8ARRAYOID, float8_array(b->upper.data(), b->upper.size()));
  if (!b->model->regression()) out.set("certain", BOOLOID, BoolGetDatum(b->certain));
  return out.finish();
}
