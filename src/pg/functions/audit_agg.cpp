// The aggregate margin_audit: the interval that holds the optimum of a model's objective, from one pass over the rows
// and no more of the model than its weights (analysis/model_audit.hpp).
#include "core/analysis/model_audit.hpp"
#include "pg/functions/pass_agg.hpp"
#include "pg/server/interrupts.hpp"
#include "pg/values/composite.hpp"

namespace margin::pg {
namespace {

class AuditState final : public PassState {
 public:
  explicit AuditState(PassStart&& start)
      : PassState(std::move(start)), settings(settings_of(*model)), audit(*model, settings, parse_audit(given())) {
    MemoryBudget(memory_limit()).require(audit.bytes(), "margin_audit");
  }

  void add(const PassRow& row) override {
    const double weight = row.weight();
    const Row x = finite_row(row);
    if (model->regression())
      audit.add(x, row.call.label->number(row.label()), weight, memory_limit());
    else
      audit.add(x, class_of(row), weight, memory_limit());
  }
  double bytes() const override { return audit.bytes(); }
  void merge(const PassState& other) override {
    audit.merge(static_cast<const AuditState&>(other).audit.state(), memory_limit());
  }
  void write(StateWriter& out) const override {
    std::vector<double> numbers = audit.state();
    out(numbers);
  }
  bool read(StateReader& in) override {
    std::vector<double> numbers;
    in(numbers);
    return audit.merge(numbers, memory_limit());
  }

  const Options settings;
  ModelAudit audit;
};

}  // namespace

extern const PassKind audit_pass;
const PassKind audit_pass = {make_state<AuditState>};

}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(margin_audit_step) { return pass_step(fcinfo, audit_pass); }
MARGIN_FUNCTION(margin_audit_final) {
  const auto* const state = final_state<AuditState>(fcinfo);
  if (state == nullptr || state->audit.rows() == 0) PG_RETURN_NULL();
  ThreadedProgress progress;
  const margin::AuditFigures found = state->audit.result(progress);
  CompositeBuilder out(fcinfo);
  out.set_int8("rows", found.rows);
  out.set_int8("skipped", state->skipped);
  out.set_int8("errors", found.errors);
  const auto relative = [](const margin::AuditedValue& v) { return v.gap() > 0 ? v.gap() / v.primal : 0.0; };
  if (std::isfinite(found.found.primal)) {
    out.set_float8("lambda", found.found.lambda);
    out.set_float8("primal", found.found.primal);
    out.set_float8("dual", found.found.dual);
    out.set_float8("gap", found.found.gap());
    out.set_float8("relative_gap", relative(found.found));
  }
  if (found.best.has_value() && std::isfinite(found.best->primal)) {
    out.set_float8("best_lambda", found.best->lambda);
    out.set_float8("best_gap", found.best->gap());
    out.set_float8("best_relative_gap", relative(*found.best));
  }
  return out.finish();
}
