// The aggregate margin_verify: the certificate of a stored model, recomputed over any table in one pass
// (model/verification.hpp).
#include "core/model/verification.hpp"
#include "pg/functions/pass_agg.hpp"
#include "pg/server/interrupts.hpp"
#include "pg/values/figures_datum.hpp"

namespace margin::pg {
namespace {

void require_one_class(const Model& model) {
  if (model.one_class()) return;
  throw Error(ErrorKind::unsupported, "the model was trained on labelled rows, and none are given",
              "Give the label as well: margin_verify(model, label, features).");
}

class VerifyState final : public PassState {
 public:
  explicit VerifyState(PassStart&& start)
      : PassState(std::move(start)), options(settings_of(*model)), verification(*model, options, start.all_rows) {
    if (!start.labelled) require_one_class(*model);
  }

  void add(const PassRow& row) override {
    const double weight = row.weight();
    if (weight != 1 && model->hard_margin())
      throw Error(ErrorKind::unsupported, "row weights are not used by a hard margin", "Leave the weights out.");
    const Row x = finite_row(row);
    if (!row.call.label.has_value()) return verification.add(x, 1, memory_limit());
    if (model->interpolates()) {
      const LabelReader::Interval target = row.call.label->interval(row.label());
      verification.add(x, target.lower, target.upper, memory_limit(), weight);
    } else if (model->regression()) {
      const double target = row.call.label->number(row.label());
      verification.add(x, target, target, memory_limit(), weight);
    } else {
      verification.add(x, class_of(row), memory_limit(), weight);
    }
  }
  void merge(const PassState& other) override {
    verification.merge(static_cast<const VerifyState&>(other).verification.state());
  }
  void write(StateWriter& out) const override {
    std::vector<double> numbers = verification.state();
    out(numbers);
  }
  bool read(StateReader& in) override {
    std::vector<double> numbers;
    in(numbers);
    return verification.merge(numbers);
  }

  const Options options;
  Verification verification;
};

}  // namespace

extern const PassKind verify_pass;
const PassKind verify_pass = {make_state<VerifyState>};

}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(margin_verify_step) { return pass_step(fcinfo, verify_pass); }
MARGIN_FUNCTION(margin_verify_one_class_step) { return pass_step(fcinfo, verify_pass, {0, 2, 3}); }
MARGIN_FUNCTION(margin_verify_final) {
  const auto* const state = final_state<VerifyState>(fcinfo);
  if (state == nullptr || state->verification.rows() == 0) PG_RETURN_NULL();
  InterruptProgress progress;
  return verification_datum(fcinfo, state->verification.result(progress), state->skipped);
}
