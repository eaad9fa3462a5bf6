// The aggregate margin_threshold: a threshold of the scores of two classes, chosen for a purpose (metrics/threshold.hpp).
#include "core/metrics/threshold.hpp"
#include "pg/functions/pass_agg.hpp"
#include "pg/values/figures_datum.hpp"

namespace margin::pg {
namespace {

class ThresholdState final : public PassState {
 public:
  explicit ThresholdState(PassStart&& start)
      : PassState(std::move(start)), goal(parse_threshold(given())), metrics(2, 0, false) {
    require_two_classes(*model);
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
  const std::optional<Datum> found =
      state == nullptr ? std::nullopt : threshold_datum(fcinfo, state->metrics, state->goal, state->skipped);
  if (!found.has_value()) PG_RETURN_NULL();
  return *found;
}
