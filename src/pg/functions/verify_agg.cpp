// The aggregate margin_verify: the certificate of a stored model, recomputed over any table in one pass
// (model/verification.hpp).
#include "core/model/verification.hpp"
#include "pg/functions/pass_agg.hpp"
#include "pg/server/interrupts.hpp"
#include "pg/values/figures_datum.hpp"

namespace margin::pg {
namespace {

struct VerifyState {
  VerifyState(std::string flat, bool all_rows)
      : model(std::move(flat)), options(settings_of(*model)), verification(*model, options, all_rows) {}

  /// Of a one-class model: the rows need no label.
  void add(const Row& row) {
    const Row x = fitted(*model, row);
    require_finite(x, "WHERE");
    verification.add(x, 1, memory_limit());
  }
  void add(PassCall& call, Datum label, const Row& row) {
    const Row x = fitted(*model, row);
    require_finite(x, "WHERE");
    if (model->interpolates()) {
      const LabelReader::Interval target = call.label.interval(label);
      verification.add(x, target.lower, target.upper, memory_limit());
    } else if (model->regression()) {
      const double target = call.label.number(label);
      verification.add(x, target, target, memory_limit());
    } else {
      const std::int32_t truth = labels.find(
          call.label, label, [&](const LabelReader::ClassName& name) { return model.class_index(name.text); });
      verification.add(x, truth, memory_limit());
    }
  }

  void merge(const VerifyState& other) { verification.merge(other.verification.state()); }

  /// Writes the state, or reads one into a fresh state.
  template <class Archive>
  bool exchange(Archive& archive) {
    std::vector<double> state = verification.state();
    archive(state);
    return !std::is_same_v<Archive, StateReader> || verification.merge(state);
  }

  GroupModel model;
  const Options options;
  Verification verification;
  std::int64_t skipped = 0;
  LabelCache labels;
};

struct UnlabelledPass {
  explicit UnlabelledPass(FunctionCallInfo fcinfo) : features(fcinfo, 2) {}
  FeatureReader features;
};

void require_one_class(const Model& model) {
  if (model.one_class()) return;
  throw Error(ErrorKind::unsupported, "the model was trained on labelled rows, and none are given",
              "Give the label as well: margin_verify(model, label, features).");
}

}  // namespace
}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(margin_verify_step) { return pass_step<VerifyState>(fcinfo); }
MARGIN_FUNCTION(margin_verify_one_class_step) {
  MemoryContext context = aggregate_context(fcinfo);
  auto& call = query_state<UnlabelledPass>(fcinfo);
  auto* state = PG_ARGISNULL(0) ? nullptr : reinterpret_cast<VerifyState*>(PG_GETARG_POINTER(0));
  if (PG_ARGISNULL(1)) {
    if (state == nullptr) PG_RETURN_NULL();
    PG_RETURN_POINTER(state);
  }
  const Datum model = PG_GETARG_DATUM(1);
  if (state == nullptr) {
    state = create_in<VerifyState>(context, flat_model(model), sees_all_rows(fcinfo));
    state->model.know(model);
    require_one_class(*state->model);
  } else {
    state->model.require_same(model);
  }
  const std::optional<margin::FeatureRow> x =
      PG_ARGISNULL(2) ? std::nullopt : state->model.read(call.features, PG_GETARG_DATUM(2));
  if (x.has_value())
    state->add(*x);
  else
    ++state->skipped;
  PG_RETURN_POINTER(state);
}
MARGIN_FUNCTION(margin_verify_combine) { return pass_combine<VerifyState>(fcinfo); }
MARGIN_FUNCTION(margin_verify_serialize) { return pass_serialize<VerifyState>(fcinfo); }
MARGIN_FUNCTION(margin_verify_deserialize) { return pass_deserialize<VerifyState>(fcinfo); }
MARGIN_FUNCTION(margin_verify_final) {
  aggregate_context(fcinfo);
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  const auto* state = reinterpret_cast<const VerifyState*>(PG_GETARG_POINTER(0));
  if (state->verification.rows() == 0) PG_RETURN_NULL();
  InterruptProgress progress;
  return verification_datum(fcinfo, state->verification.result(progress), state->skipped);
}
