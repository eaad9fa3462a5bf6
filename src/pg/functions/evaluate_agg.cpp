// The aggregate margin_evaluate: how good a model is on labelled rows. margin_roc, margin_reliability and
// margin_histogram draw the same state, so that PostgreSQL makes one pass for all of them in one query.
#include "core/math/norm.hpp"
#include "core/report/charts.hpp"
#include "pg/functions/pass_agg.hpp"
#include "pg/values/figures_datum.hpp"

namespace margin::pg {
namespace {

/// Count: std::int64_t, or double of rows with weights.
template <class Count>
class EvaluateState final : public PassState {
 public:
  explicit EvaluateState(PassStart&& start) : PassState(std::move(start)) {
    scores_.resize(static_cast<std::size_t>(model->outputs()));
    odds_.resize(model->converts_scores() ? scores_.size() : 0);
    if (!model->regression())
      classes.emplace(static_cast<std::int32_t>(model->classes.size()),
                      lp_norm(model->weights.data(), model->weights.size(), 2), model->probabilistic());
  }

  void add(const PassRow& row) override {
    const auto weight = static_cast<Count>(row.weight());
    if (!(weight > 0)) return;
    checked_scores(*model, model.scorer(), row.features, scores_.data());
    if (!classes.has_value()) {
      const double target = row.call.label->number(row.label());
      targets.add(target, model->prediction(scores_[0]), model->deviance(scores_[0], target),
                  static_cast<double>(weight));
      return;
    }
    const std::int32_t truth = class_of(row);
    if (!odds_.empty()) model->log_odds(scores_.data(), odds_.data());
    classes->add(truth, decide(model->outputs(), scores_.data()), scores_.data(),
                 odds_.empty() ? nullptr : odds_.data(), weight);
  }
  void merge(const PassState& state) override {
    const auto& other = static_cast<const EvaluateState&>(state);
    if (classes.has_value())
      classes->merge(*other.classes);
    else
      targets.merge(other.targets);
  }
  void write(StateWriter& out) const override { const_cast<EvaluateState*>(this)->exchange(out); }
  bool read(StateReader& in) override { return exchange(in); }
  std::int64_t rows() const { return classes.has_value() ? classes->rows() : targets.rows(); }

  std::optional<CountingMetrics<Count>> classes;
  RegressionMetrics targets;

 private:
  template <class Archive>
  bool exchange(Archive& archive) {
    return classes.has_value() ? classes->exchange(archive) : targets.exchange(archive);
  }

  std::vector<double> scores_, odds_;  // odds: of models whose scores are none
};
using Rows = EvaluateState<std::int64_t>;
using WeightedRows = EvaluateState<double>;

PassState* make_evaluation(PassStart&& start) {
  return start.weighted ? make_state<WeightedRows>(std::move(start)) : make_state<Rows>(std::move(start));
}

template <class State>
Datum evaluation(FunctionCallInfo fcinfo, const State& state) {
  if (state.rows() == 0) PG_RETURN_NULL();
  return state.classes.has_value()
             ? evaluation_datum(fcinfo, *state.model, *state.classes, state.skipped, state.weighted)
             : evaluation_datum(fcinfo, *state.model, state.targets, state.skipped);
}

/// What `result` makes of a state of either kind; NULL without one.
template <class Result>
Datum of_state(FunctionCallInfo fcinfo, Result result) {
  const auto* const state = final_state<PassState>(fcinfo);
  if (state == nullptr) PG_RETURN_NULL();
  return state->weighted ? result(static_cast<const WeightedRows&>(*state)) : result(static_cast<const Rows&>(*state));
}

/// The SVG of a state; NULL without rows.
template <class Chart>
Datum draw(FunctionCallInfo fcinfo, const char* aggregate, Chart chart) {
  return of_state(fcinfo, [&](const auto& state) -> Datum {
    if (state.rows() == 0) PG_RETURN_NULL();
    require_classes(*state.model, aggregate);
    return text_datum(svg(chart(*state.classes, state.model->classes)));
  });
}

}  // namespace

extern const PassKind evaluate_pass;
const PassKind evaluate_pass = {make_evaluation};

}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(margin_evaluate_step) { return pass_step(fcinfo, evaluate_pass); }
MARGIN_FUNCTION(margin_evaluate_final) {
  return of_state(fcinfo, [&](const auto& state) { return evaluation(fcinfo, state); });
}

MARGIN_FUNCTION(margin_roc_final) {
  return draw(fcinfo, "margin_roc", [](const auto&... of) { return margin::roc_plot(of...); });
}
MARGIN_FUNCTION(margin_reliability_final) {
  return draw(fcinfo, "margin_reliability", [](const auto&... of) { return margin::reliability_plot(of...); });
}
MARGIN_FUNCTION(margin_histogram_final) {
  return draw(fcinfo, "margin_histogram", [](const auto&... of) { return margin::histogram_plot(of...); });
}
