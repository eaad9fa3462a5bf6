// The aggregate margin_verify: the certificate of a stored model, recomputed over any table in one pass.
#include "pass_agg.hpp"

namespace margin::pg {
namespace {

struct VerifyState {
  VerifyState(std::string flat, bool all_rows) : model(std::move(flat)) {
    if (model->regression())
      throw Error(ErrorKind::unsupported, "margin_verify checks margins, and a regression model has none",
                  "Use margin_evaluate.");
    const bool with_dual = all_rows && !model->lambda.has_value() && !model->dual_weights.empty();
    const bool free_intercept = parse_settings(model->options).intercept;
    check.emplace(static_cast<std::int32_t>(model->classes.size()), model->dimensions, model->weights.data(),
                  model->intercept.data(), free_intercept, with_dual);
    if (with_dual) columns = static_cast<std::size_t>(model->outputs);
  }

  void add(PassCall& call, Datum label, const Row& x) {
    if (x.count != model->dimensions)
      throw Error(ErrorKind::wrong_dimensions, "the model expects " + std::to_string(model->dimensions) +
                                                   " features, not " + std::to_string(x.count));
    require_finite(x);
    const std::int32_t truth = labels.find(
        call.label, label, [&](const LabelReader::ClassName& name) { return model->class_index(name.text); });
    // The k-th row meets the k-th dual weight; rows beyond the last one have none. Any pairing gives a true bound
    // by weak duality: rows in another order can only make it wider.
    const std::size_t at = static_cast<std::size_t>(check->rows()) * columns;
    const bool weighted = columns > 0 && at + columns <= model->dual_weights.size();
    check->add(x, truth, weighted ? model->dual_weights.data() + at : nullptr);
  }
  void merge(const VerifyState& other) { check->merge(*other.check); }
  template <class Archive>
  bool exchange(Archive& archive) {
    MarginCheck::Counters c = check->counters();
    archive(c.rows);
    archive(c.errors);
    archive(c.smallest);
    archive(c.radius);
    if (check->rows() == 0) check->merge(c);  // reading into a fresh state; a writer's own counts stay as they are
    return c.rows >= 0 && c.errors >= 0;
  }

  GroupModel model;
  std::int64_t skipped = 0;
  std::optional<MarginCheck> check;
  std::size_t columns = 0;  // dual weights per row, 0: none to check
  LabelCache labels;
};

}  // namespace
}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(margin_verify_step) { return pass_step<VerifyState>(fcinfo); }
MARGIN_FUNCTION(margin_verify_combine) { return pass_combine<VerifyState>(fcinfo); }
MARGIN_FUNCTION(margin_verify_serialize) { return pass_serialize<VerifyState>(fcinfo); }
MARGIN_FUNCTION(margin_verify_deserialize) { return pass_deserialize<VerifyState>(fcinfo); }

MARGIN_FUNCTION(margin_verify_final) {
  aggregate_context(fcinfo);
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  const auto* state = reinterpret_cast<const VerifyState*>(PG_GETARG_POINTER(0));
  const margin::MarginCheck& check = *state->check;
  if (check.rows() == 0) PG_RETURN_NULL();
  CompositeBuilder out(fcinfo);
  out.set_int8("rows", check.rows());
  out.set_int8("skipped", state->skipped);
  out.set_int8("errors", check.errors());
  out.set_float8("margin_lower", check.lower());
  if (!state->model->lambda.has_value()) {
    const double upper = check.upper();
    out.set_float8("primal", check.lower());
    if (std::isfinite(upper)) {
      out.set_float8("margin_upper", upper);
      out.set_float8("dual", upper);
      out.set_float8("gap", upper - check.lower());
    }
  }
  return out.finish();
}
