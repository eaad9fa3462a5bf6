#include "pg/functions/row_arguments.hpp"

#include "pg/values/jsonb.hpp"
#include "pg/values/row_weight.hpp"

namespace margin::pg {

RowArguments::RowArguments(FunctionCallInfo fcinfo, int first) {
  int end = fcinfo->nargs;
  if (end > first && get_fn_expr_argtype(fcinfo->flinfo, end - 1) == JSONBOID) options = --end;
  if (end > first) weight = first;
  if (end > first + 1) group = first + 1;
}

double RowArguments::weight_of(FunctionCallInfo fcinfo) const { return weight == 0 ? 1.0 : row_weight(fcinfo, weight); }

std::string_view RowArguments::options_of(FunctionCallInfo fcinfo, const char* hint) const {
  if (options == 0) return {};
  if (PG_ARGISNULL(options)) throw Error(ErrorKind::null_value, "the options are NULL, expected a jsonb object", hint);
  return payload(PG_GETARG_DATUM(options));
}

}  // namespace margin::pg
