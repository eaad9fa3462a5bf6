#include "pg/functions/named_columns.hpp"

#include "pg/values/jsonb.hpp"
#include "pg/values/scan_values.hpp"

namespace margin::pg {

namespace {

std::string advice(const char* function, int names) {
  return std::string(function) + (names == 0 ? "" : "(encoder, ") + (names == 0 ? "(" : "") +
         "'[\"a\", \"b\"]', a, b).";
}

}  // namespace

NamedColumns::NamedColumns(FunctionCallInfo fcinfo, int names, const char* function)
    : names_(names), function_(function), constant_(constant_argument(fcinfo, names)) {
  if (get_fn_expr_variadic(fcinfo->flinfo))
    throw Error(
        ErrorKind::unsupported, std::string(function) + " takes columns, not an array of them",
        std::string("An array is one column: ") + function + (names == 0 ? "(" : "(encoder, ") + "'[\"x\"]', x).");
}

void NamedColumns::read_names(FunctionCallInfo fcinfo) {
  const Value value = value_from(PG_GETARG_DATUM(names_));
  const auto* array = std::get_if<Value::Array>(&value.data);
  std::vector<OpenRow::Attribute> attributes;
  for (std::size_t j = 0; array != nullptr && j < array->size(); ++j) {
    const auto* name = std::get_if<std::string>(&(*array)[j].data);
    if (name == nullptr) break;
    attributes.push_back({*name, InvalidOid, j});
  }
  if (array == nullptr || attributes.size() != array->size())
    throw Error(ErrorKind::invalid_option, "the names of the columns are " + describe(value) + ", expected strings",
                "Give an array: " + advice(function_, names_));
  const auto columns = static_cast<std::size_t>(PG_NARGS() - names_ - 1);
  if (attributes.size() != columns)
    throw Error(ErrorKind::invalid_option,
                "there are " + std::to_string(attributes.size()) + " names and " + std::to_string(columns) +
                    " columns, expected as many of one as of the other",
                "Give a name for each column, in their order: " + advice(function_, names_));
  for (OpenRow::Attribute& a : attributes)
    a.type = get_fn_expr_argtype(fcinfo->flinfo, names_ + 1 + static_cast<int>(a.at));
  row_.attributes = std::move(attributes);
  row_.values.assign(columns, 0);
  row_.nulls.assign(columns, 1);
  ++row_.layout;
}

const OpenRow& NamedColumns::open(FunctionCallInfo fcinfo) {
  if (row_.layout == 0 || !constant_) {
    if (PG_ARGISNULL(names_))
      throw Error(ErrorKind::null_value, "the names of the columns are NULL, expected an array of strings",
                  "Give a name for each column: " + advice(function_, names_));
    const std::string_view json = payload(PG_GETARG_DATUM(names_));
    if (row_.layout == 0 || json != last_) {
      read_names(fcinfo);
      last_ = json;
    }
  }
  const int first = names_ + 1;
  for (std::size_t j = 0; j < row_.values.size(); ++j) {
    const NullableDatum& argument = fcinfo->args[first + static_cast<int>(j)];
    row_.values[j] = argument.value;
    row_.nulls[j] = argument.isnull ? 1 : 0;
  }
  return row_;
}

}  // namespace margin::pg
