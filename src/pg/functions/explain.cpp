// margin_explain(model, features): why a row has its score; margin_reasons(model, features, k): its largest parts.
// margin_importance(model): which columns matter. margin_shape(model [, column]): what each value of a column adds.
// margin_plot(model, column): its curve, of a pair its cells in colours; without a column the interval against iterations.
#include "core/report/explain.hpp"

#include "core/report/charts.hpp"
#include "core/report/shape.hpp"
#include "pg/server/memory.hpp"
#include "pg/values/composite.hpp"
#include "pg/values/features.hpp"
#include "pg/values/model_datum.hpp"
#include "pg/values/result_set.hpp"

namespace margin::pg {
namespace {

void require_weights(const Model& model, const char* function) {
  if (model.basis == nullptr) return;
  throw Error(ErrorKind::unsupported,
              std::string(function) + " needs a model that is linear in its features, this one has " +
                  (support_vectors_of(model.basis.get()) != nullptr ? "a kernel"
                   : model.learners() == Learners::trees            ? "trees"
                                                                    : "stumps"),
              "Train without kernel and without learners => 'stumps' or 'trees'.");
}

std::string column_name(Datum argument) {
  const text* const name = backend([=] { return DatumGetTextPP(argument); });
  return {VARDATA_ANY(name), static_cast<std::size_t>(VARSIZE_ANY_EXHDR(name))};
}

/// The class that a score of output `o` speaks for; nothing for a regression.
std::optional<Datum> class_of(const Model& model, std::int32_t o) {
  if (model.regression()) return std::nullopt;
  return text_datum(model.classes[model.outputs() == 1 ? 1 : static_cast<std::size_t>(o)]);
}

/// f(the row of the call, as the model sees it; before it was encoded), unless the model skips it.
template <class F>
void with_row(FunctionCallInfo fcinfo, const Model& model, F&& f) {
  FeatureReader reader(fcinfo, 1);
  ModelRows rows;
  const std::optional<FeatureRow> read = rows.read(model, reader, PG_GETARG_DATUM(1));
  if (!read.has_value()) return;
  const Row x = fitted(model, *read);
  require_finite(x, "WHERE");
  f(x, model.encoder != nullptr ? &rows.cells() : nullptr);
}

}  // namespace
}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(margin_explain) {
  const margin::Model model = read_model(PG_GETARG_DATUM(0));
  require_weights(model, "margin_explain");
  ResultSet out(fcinfo);
  with_row(fcinfo, model, [&](const margin::Row& x, const margin::Cells* cells) {
    for (const margin::Contribution& c : margin::contributions(model, x, cells))
      out.add({text_datum(c.name), class_of(model, c.output), Float8GetDatum(c.value), Float8GetDatum(c.contribution)});
  });
  return 0;
}

/// (model, features, k)
MARGIN_FUNCTION(margin_reasons) {
  const margin::Model model = read_model(PG_GETARG_DATUM(0));
  require_weights(model, "margin_reasons");
  const std::int32_t most = PG_GETARG_INT32(2);
  if (most < 1)
    throw margin::Error(margin::ErrorKind::invalid_option, "k is " + std::to_string(most) + ", expected 1 or more",
                        "It is the number of reasons on each side; adverse action notices name four.");
  ResultSet out(fcinfo);
  with_row(fcinfo, model, [&](const margin::Row& x, const margin::Cells* cells) {
    for (const margin::Reason& r : margin::reasons(model, x, cells, most))
      out.add({class_of(model, r.output), text_datum(r.in_favour ? "for" : "against"), Int32GetDatum(r.rank),
               text_datum(r.column), r.value.has_value() ? std::optional(text_datum(*r.value)) : std::nullopt,
               Float8GetDatum(r.contribution)});
  });
  return 0;
}

MARGIN_FUNCTION(margin_importance) {
  const margin::Model model = read_model(PG_GETARG_DATUM(0));
  require_weights(model, "margin_importance");
  ResultSet out(fcinfo);
  for (const margin::Importance& i : margin::importance(model))
    out.add({text_datum(i.column), Float8GetDatum(i.norm), Float8GetDatum(i.share)});
  return 0;
}

// Not strict: without a column, of all.
MARGIN_FUNCTION(margin_shape) {
  ResultSet out(fcinfo);
  if (PG_ARGISNULL(0)) return 0;
  const margin::Model model = read_model(PG_GETARG_DATUM(0));
  require_weights(model, "margin_shape");
  std::optional<std::string> column;
  if (!PG_ARGISNULL(1)) column = column_name(PG_GETARG_DATUM(1));
  const auto level = [](const std::optional<std::string>& v) {
    return v.has_value() ? std::optional<Datum>(text_datum(*v)) : std::nullopt;
  };
  const auto number = [](const std::optional<double>& v) {
    return v.has_value() ? std::optional<Datum>(Float8GetDatum(*v)) : std::nullopt;
  };
  for (const margin::ShapePiece& p : margin::shape(model, settings_of(model), column))
    out.add({class_of(model, p.output), text_datum(p.column), level(p.level), number(p.above), number(p.upto),
             number(p.slope), number(p.contribution), number(p.lower), number(p.upper), number(p.share),
             level(p.with_level), number(p.with_above), number(p.with_upto)});
  return 0;
}

/// (model, column): of no column how the interval closed.
MARGIN_FUNCTION(margin_plot) {
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  margin::Model model = read_model(PG_GETARG_DATUM(0));
  const margin::Options options = settings_of(model);
  if (PG_NARGS() > 1 && !PG_ARGISNULL(1)) {
    require_weights(model, "margin_plot");
    return text_datum(margin::svg(margin::shape_plot(model, options, column_name(PG_GETARG_DATUM(1)))));
  }
  read_figures(PG_GETARG_DATUM(0), model);
  read_history(PG_GETARG_DATUM(0), model);
  return text_datum(margin::svg(margin::history_plot(model, options)));
}
