// The aggregate margin_threshold: a threshold of the scores of two classes, chosen for a purpose (metrics/threshold.hpp).
#include "core/math/norm.hpp"
#include "core/metrics/threshold.hpp"
#include "pg/functions/pass_agg.hpp"
#include "pg/values/composite.hpp"

namespace margin::pg {
namespace {

class ThresholdState final : public PassState {
 public:
  explicit ThresholdState(PassStart&& start)
      : PassState(std::move(start)), goal(parse_threshold(given())), metrics(2, 0, false) {
    if (model->classes.size() != 2)
      throw Error(ErrorKind::unsupported, "a threshold is for a model of two classes, this one " +
                                              (model->regression() ? std::string("is a regression")
                                                                   : "has " + std::to_string(model->classes.size())));
  }

  void add(const PassRow& row) override {
    double score = 0;
    const double weight = row.weight();
    checked_scores(*model, model.scorer(), row.features, &score);
    const std::int32_t truth = class_of(row);
    if (weight > 0) metrics.add(truth, score >= 0 ? 1 : 0, &score, nullptr, weight);
  }
  void merge(const PassState& other) override { metrics.merge(static_cast<const ThresholdState&>(other).metrics); }
  void write(StateWriter& out) const override { WeightedMetrics(metrics).exchange(out); }
  bool read(StateReader& in) override { return metrics.exchange(in); }

  const ThresholdGoal goal;
  WeightedMetrics metrics;
};

}  // namespace

extern const PassKind threshold_pass;
const PassKind threshold_pass = {make_state<ThresholdState>, "For example '{\"precision\": 0.9}'."};

}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(margin_threshold_step) { return pass_step(fcinfo, threshold_pass); }
MARGIN_FUNCTION(margin_threshold_final) {
  const auto* const state = final_state<ThresholdState>(fcinfo);
  if (state == nullptr || state->metrics.rows() == 0) PG_RETURN_NULL();
  const std::optional<margin::OperatingPoint> best = choose_threshold(state->metrics, state->goal);
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
  if (state->goal.kind == margin::ThresholdGoal::Kind::costs) out.set_float8("cost", mean_cost(*best, state->goal));
  const double counts[] = {best->true_negatives, best->false_positives, best->false_negatives, best->true_positives};
  out.set("confusion", FLOAT8ARRAYOID, float8_matrix(counts, 2, 2));
  return out.finish();
}
