// Models of other programs: margin_model_from, margin_from_liblinear, margin_from_libsvm, margin_from_pmml. None has a proof:
// margin_audit finds one.
#include "core/formats/foreign_model.hpp"

#include "core/formats/pmml_model.hpp"
#include "pg/server/interrupts.hpp"
#include "pg/values/composite.hpp"
#include "pg/values/feature_names.hpp"
#include "pg/values/jsonb.hpp"
#include "pg/values/model_datum.hpp"

namespace margin::pg {
namespace {

Value::Object options_of(FunctionCallInfo fcinfo, int at) {
  return PG_ARGISNULL(at) ? Value::Object{} : options_from(PG_GETARG_DATUM(at));
}

std::string loss_of(FunctionCallInfo fcinfo, int at) {
  if (PG_ARGISNULL(at))
    throw Error(ErrorKind::null_value, "the loss is NULL, expected a name", "SELECT name FROM margin_losses()");
  return text_from(PG_GETARG_DATUM(at));
}

double lambda_of(FunctionCallInfo fcinfo, int at) {
  if (PG_ARGISNULL(at))
    throw Error(ErrorKind::null_value, "lambda is NULL, expected a number above 0",
                "Of a training with cost C on n rows it is 1/(C n).");
  return PG_GETARG_FLOAT8(at);
}

using ReadModel = Value::Object (*)(std::string_view, double, Value::Object, const Progress&);

/// (document, lambda, options)
Datum read_document(FunctionCallInfo fcinfo, ReadModel read) {
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  InterruptProgress progress;
  const std::string document = text_from(PG_GETARG_DATUM(0));
  return model_from_attributes(fcinfo, read(document, lambda_of(fcinfo, 1), options_of(fcinfo, 2), progress));
}

}  // namespace
}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(margin_from_liblinear) { return read_document(fcinfo, margin::liblinear_model); }
MARGIN_FUNCTION(margin_from_libsvm) { return read_document(fcinfo, margin::libsvm_model); }

/// (document, loss, lambda, feature_names, options)
MARGIN_FUNCTION(margin_from_pmml) {
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  const InterruptProgress progress;
  const std::string document = text_from(PG_GETARG_DATUM(0));
  margin::BesidePmml beside;
  beside.loss = loss_of(fcinfo, 1);
  beside.lambda = lambda_of(fcinfo, 2);
  if (!PG_ARGISNULL(3)) beside.feature_names = feature_names(PG_GETARG_DATUM(3));
  beside.options = options_of(fcinfo, 4);
  return model_from_attributes(fcinfo, margin::pmml_model(document, std::move(beside), progress));
}

/// (weights, intercept, classes, loss, lambda, options)
MARGIN_FUNCTION(margin_model_from) {
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  const std::string loss = loss_of(fcinfo, 3);
  const double lambda = lambda_of(fcinfo, 4);
  CompositeBuilder out(fcinfo);
  out.set("weights", FLOAT8ARRAYOID, PG_GETARG_DATUM(0));
  if (!PG_ARGISNULL(1)) out.set("intercept", FLOAT8ARRAYOID, PG_GETARG_DATUM(1));
  if (!PG_ARGISNULL(2)) out.set("classes", TEXTARRAYOID, PG_GETARG_DATUM(2));
  out.set_text("loss", loss);
  out.set_float8("lambda", lambda);
  out.set_float8("norm", 2);
  out.set("options", JSONBOID, jsonb_from(margin::foreign_options(options_of(fcinfo, 5), loss, lambda)));
  const Datum composite = out.finish();
  settings_of(read_model(composite));
  return composite;
}
