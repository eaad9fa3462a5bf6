// margin_features(column, ...): mixed columns of a table as one sparse row.
#include "pg/server/memory.hpp"
#include "pg/values/composite.hpp"
#include "pg/values/labels.hpp"
#include "pg/values/sparse_datum.hpp"
namespace margin::pg {
namespace {

constexpr std::int32_t default_width = 1 << 18;

bool is_number(Oid type) {
  switch (type) {
    case BOOLOID:
    case INT2OID:
    case INT4OID:
    case INT8OID:
    case FLOAT4OID:
    case FLOAT8OID:
    case NUMERICOID:
      return true;
    default:
      return false;
  }
}

bool is_category(Oid type) {
  return type == TEXTOID || type == VARCHAROID || type == BPCHAROID || type == NAMEOID || type == CHAROID ||
         backend([=] { return type_is_enum(type); });
}

double number_of(Datum value, Oid type) {
  switch (type) {
    case BOOLOID:
      return DatumGetBool(value) ? 1 : 0;
    case INT2OID:
      return DatumGetInt16(value);
    case INT4OID:
      return DatumGetInt32(value);
    case INT8OID:
      return static_cast<double>(DatumGetInt64(value));
    case FLOAT4OID:
      return DatumGetFloat4(value);
    case FLOAT8OID:
      return DatumGetFloat8(value);
    default:
      return backend([=] { return DatumGetFloat8(DirectFunctionCall1(numeric_float8, value)); });
  }
}

/// The columns of a call site: every number has a feature of its own, in order; behind them all categories share the
/// hashed ones.
template <int first>
struct ColumnsCall {
  struct Column {
    Oid type;
    std::optional<LabelReader> category;
  };

  explicit ColumnsCall(FunctionCallInfo fcinfo) {
    if (get_fn_expr_variadic(fcinfo->flinfo))
      throw Error(ErrorKind::unsupported, "margin_features takes columns, not an array of them",
                  "An array is features already; cast it to margin_sparse to have it sparse.");
    for (int i = first; i < PG_NARGS(); ++i) {
      const Oid declared = get_fn_expr_argtype(fcinfo->flinfo, i);
      const Oid type = backend([=] { return OidIsValid(declared) ? getBaseType(declared) : declared; });
      Column column{type, std::nullopt};
      if (!OidIsValid(type))
        throw Error(ErrorKind::wrong_type, "the type of " + name(i) + " is not known",
                    "Call the function in a query: SELECT margin_features(column, ...) FROM ...");
      if (is_number(type))
        ++numbers;
      else if (type != UNKNOWNOID && is_category(type))
        column.category.emplace(type);
      else
        throw Error(ErrorKind::wrong_type, name(i) + " cannot be of type " + type_name_of(type),
                    "Accepted are boolean, numbers, text and enums; cast other types to one of them.");
      columns.push_back(column);
    }
    hashed = static_cast<std::size_t>(numbers) < columns.size();
  }

  static std::string name(int i) { return "column " + std::to_string(i - first + 1); }

  std::vector<Column> columns;
  std::int32_t numbers = 0;
  bool hashed = false;
};

template <int first>
Datum features_of_columns(FunctionCallInfo fcinfo, std::int32_t width) {
  using Call = ColumnsCall<first>;
  auto& call = query_state<Call>(fcinfo);
  constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
  if (width < 1 || width > most - call.numbers)
    throw Error(ErrorKind::invalid_value,
                "the width is " + std::to_string(width) + ", expected 1 to " + std::to_string(most - call.numbers));
  SparseVector v;
  std::vector<std::int32_t> categories;
  std::int32_t number = 0;
  for (int i = first; i < PG_NARGS(); ++i) {
    const auto& column = call.columns[static_cast<std::size_t>(i - first)];
    if (column.category.has_value()) {
      if (PG_ARGISNULL(i)) continue;
      const std::string_view text = column.category->name(PG_GETARG_DATUM(i)).text;
      categories.push_back(call.numbers + hashed_column(i - first + 1, text, width));
      continue;
    }
    if (PG_ARGISNULL(i))
      throw Error(ErrorKind::null_value, Call::name(i) + " is NULL, expected a number",
                  "Use coalesce(column, ...), or leave such rows out with FILTER (WHERE ...).");
    const double value = number_of(PG_GETARG_DATUM(i), column.type);
    if (!std::isfinite(value))
      throw Error(ErrorKind::invalid_value, Call::name(i) + " is " + number_text(value) + ", expected a finite number");
    v.indices.push_back(number++);
    v.values.push_back(value);
  }
  std::sort(categories.begin(), categories.end());
  for (const std::int32_t c : categories) {
    if (!v.indices.empty() && v.indices.back() == c) {
      v.values.back() += 1;  // two categories of a row in one column
      continue;
    }
    v.indices.push_back(c);
    v.values.push_back(1);
  }
  v.dimensions = call.numbers + (call.hashed ? width : 0);
  put_in_order(v);
  return sparse_datum(v);
}

}  // namespace
}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(margin_features) { return features_of_columns<0>(fcinfo, default_width); }

MARGIN_FUNCTION(margin_hashed_features) {
  if (PG_ARGISNULL(0))
    throw margin::Error(margin::ErrorKind::null_value, "the width is NULL, expected a number of columns");
  return features_of_columns<1>(fcinfo, PG_GETARG_INT32(0));
}
