// margin_fold(key, folds, seed): a split of rows that survives re-runs and new rows.
#include "core/data/fold_hash.hpp"
#include "pg/server/memory.hpp"
#include "pg/values/composite.hpp"
#include "pg/values/labels.hpp"

namespace margin::pg {
namespace {

/// The key of a row as text: numbers of all integer types and their text are one key.
struct FoldCall {
  explicit FoldCall(FunctionCallInfo fcinfo) {
    const Oid declared = get_fn_expr_argtype(fcinfo->flinfo, 0);
    type = backend([=] { return OidIsValid(declared) ? getBaseType(declared) : declared; });
    switch (type) {
      case INT2OID:
      case INT4OID:
      case INT8OID:
      case TEXTOID:
      case VARCHAROID:
      case BPCHAROID:
      case NAMEOID:
        reader.emplace(type);
        return;
      case UUIDOID:
        return;
      default:
        throw Error(ErrorKind::wrong_type, "a key cannot be of type " + type_name_of(type),
                    "Accepted are smallint, integer, bigint, text, varchar, character, name and uuid; cast other types "
                    "to text.");
    }
  }
  std::string_view text(Datum key) const {
    if (reader.has_value()) return reader->name(key).text;
    return {backend([=] { return DatumGetCString(DirectFunctionCall1(uuid_out, key)); })};
  }

  Oid type;
  std::optional<LabelReader> reader;
};

}  // namespace
}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(margin_fold) {
  const auto& call = query_state<FoldCall>(fcinfo);
  const std::int32_t folds = PG_GETARG_INT32(1);
  if (folds < 1)
    throw margin::Error(margin::ErrorKind::invalid_option,
                        "folds is " + std::to_string(folds) + ", expected a number of 1 or more");
  PG_RETURN_INT32(margin::fold_of(call.text(PG_GETARG_DATUM(0)), folds, PG_GETARG_INT64(2)));
}
