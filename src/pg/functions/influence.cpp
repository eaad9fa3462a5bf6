// The function margin_influence: how far a row moves the optimum of a model (analysis/influence.hpp).
#include "core/analysis/influence.hpp"

#include "pg/server/memory.hpp"
#include "pg/values/features.hpp"
#include "pg/values/labels.hpp"
#include "pg/values/model_datum.hpp"
#include "pg/values/recent.hpp"

namespace margin::pg {
namespace {

/// A model with what only reports read of it: how many rows it was trained on.
std::unique_ptr<const Model> decoded_with_figures(Datum composite) {
  auto model = std::make_unique<Model>(decoded(composite));
  read_figures(composite, *model);
  return model;
}

/// A model as a call site keeps it.
struct Moved {
  explicit Moved(Datum composite)
      : model(decoded_with_figures(composite)),
        options(std::make_unique<const Options>(settings_of(*model))),
        influence(std::make_unique<Influence>(*model, *options)),
        classes(std::make_unique<const ClassIndex>(model->classes)) {}

  std::unique_ptr<const Model> model;
  std::unique_ptr<const Options> options;
  std::unique_ptr<Influence> influence;  // refers to both, which stay where they are
  std::unique_ptr<const ClassIndex> classes;
  ModelRows rows;
};

struct InfluenceCall {
  explicit InfluenceCall(FunctionCallInfo fcinfo)
      : label(get_fn_expr_argtype(fcinfo->flinfo, 1)), features(fcinfo, 2) {}

  Moved& find(Datum composite) {
    const std::string_view key = argument_key(composite);
    Moved* const known = models.find(key);
    if (known != nullptr) return *known;
    Moved fresh(composite);
    const double bytes = 3 * bytes_of(*fresh.model) + static_cast<double>(key.size());
    return models.add(key, std::move(fresh), bytes);
  }

  LabelReader label;
  FeatureReader features;
  Recent<Moved> models;
};

}  // namespace
}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(margin_influence) {
  auto& call = query_state<InfluenceCall>(fcinfo);
  Moved& known = call.find(PG_GETARG_DATUM(0));
  const std::optional<margin::FeatureRow> read = known.rows.read(*known.model, call.features, PG_GETARG_DATUM(2));
  if (!read.has_value()) PG_RETURN_NULL();
  const margin::Row x = fitted(*known.model, *read);
  margin::require_finite(x, "WHERE");
  const Datum label = PG_GETARG_DATUM(1);
  if (known.model->regression()) PG_RETURN_FLOAT8(known.influence->of(x, call.label.number(label)));
  PG_RETURN_FLOAT8(known.influence->of(x, known.classes->find(call.label.name(label).text)));
}
