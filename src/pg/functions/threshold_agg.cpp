// The aggregate margin_threshold: a threshold of the scores of two classes, chosen for a purpose (model/threshold.hpp).
#include "core/math/norm.hpp"
#include "core/model/threshold.hpp"
#include "pg/functions/pass_agg.hpp"
#include "pg/values/composite.hpp"
#include "pg/values/row_weight.hpp"

namespace margin::pg {
namespace {

struct ThresholdState {
  ThresholdState(std::string flat, bool) : model(std::move(flat)), metrics(2, 0, false) {
    if (model->classes.size() != 2)
      throw Error(ErrorKind::unsupported, "a threshold is for a model of two classes, this one " +
                                              (model->regression() ? std::string("is a regression")
                                                                   : "has " + std::to_string(model->classes.size())));
  }

  /// A jsonb without its header.
  void take(std::string_view given) {
    if (!goal.has_value()) {
      options = given;
      goal = parse_threshold(options_from(jsonb_of_payload(options)));
    } else if (given != options) {
      throw Error(ErrorKind::invalid_option, "the options must be the same for every row of a group");
    }
  }
  void add(PassCall& call, Datum label, const Row& x, double weight) {
    double score = 0;
    checked_scores(*model, model.scorer(), x, &score);
    const std::int32_t truth = labels.find(
        call.label, label, [&](const LabelReader::ClassName& name) { return model.class_index(name.text); });
    if (weight > 0) metrics.add(truth, score >= 0 ? 1 : 0, &score, nullptr, weight);
  }
  void merge(const ThresholdState& other) {
    if (other.goal.has_value()) take(other.options);
    metrics.merge(other.metrics);
  }
  template <class Archive>
  bool exchange(Archive& archive) {
    archive(options);
    if (!options.empty() && !goal.has_value()) goal = parse_threshold(options_from(jsonb_of_payload(options)));
    return metrics.exchange(archive);
  }

  GroupModel model;
  std::int64_t skipped = 0;
  std::string options;
  std::optional<ThresholdGoal> goal;
  WeightedMetrics metrics;
  LabelCache labels;
};

Datum threshold_step(FunctionCallInfo fcinfo, int weight_at) {
  const int options_at = weight_at == 0 ? 4 : 5;
  if (PG_ARGISNULL(options_at))
    throw Error(ErrorKind::null_value, "the options are NULL, expected a jsonb object",
                "For example '{\"precision\": 0.9}'.");
  return pass_step<ThresholdState>(fcinfo, [&](ThresholdState& state, PassCall& call, const Row& x) {
    state.take(payload(PG_GETARG_DATUM(options_at)));
    state.add(call, PG_GETARG_DATUM(2), x, weight_at == 0 ? 1.0 : row_weight(fcinfo, weight_at));
  });
}

}  // namespace
}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(margin_threshold_step) { return threshold_step(fcinfo, 0); }
MARGIN_FUNCTION(margin_threshold_weighted_step) { return threshold_step(fcinfo, 4); }
MARGIN_FUNCTION(margin_threshold_combine) { return pass_combine<ThresholdState>(fcinfo); }
MARGIN_FUNCTION(margin_threshold_serialize) { return pass_serialize<ThresholdState>(fcinfo); }
MARGIN_FUNCTION(margin_threshold_deserialize) { return pass_deserialize<ThresholdState>(fcinfo); }

MARGIN_FUNCTION(margin_threshold_final) {
  aggregate_context(fcinfo);
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  const auto* state = reinterpret_cast<const ThresholdState*>(PG_GETARG_POINTER(0));
  if (state->metrics.rows() == 0) PG_RETURN_NULL();
  const std::optional<margin::OperatingPoint> best = choose_threshold(state->metrics, *state->goal);
  if (!best.has_value()) PG_RETURN_NULL();
  CompositeBuilder out(fcinfo);
  out.set_int8("rows", state->metrics.rows());
  out.set_int8("skipped", state->skipped);
  out.set_float8("threshold", best->threshold);
  out.set_float8("precision", best->precision());
  out.set_float8("recall", best->recall());
  out.set_float8("f1", best->f1());
  out.set_float8("accuracy", best->accuracy());
  out.set_float8("mcc", best->mcc());
  if (state->goal->kind == margin::ThresholdGoal::Kind::costs) out.set_float8("cost", mean_cost(*best, *state->goal));
  const double counts[] = {best->true_negatives, best->false_positives, best->false_negatives, best->true_positives};
  out.set("confusion", FLOAT8ARRAYOID, float8_matrix(counts, 2, 2));
  return out.finish();
}
