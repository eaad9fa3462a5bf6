// margin_options(name => value, ...): named arguments as the jsonb that train_margin reads.
#include "pg/server/memory.hpp"
#include "pg/values/composite.hpp"
#include "pg/values/jsonb.hpp"
#include "pg/values/model_datum.hpp"
#include "pg/values/recent.hpp"

namespace margin::pg {
namespace {

/// Names and types of the arguments, from the catalog: the SQL definition is the only list of positions.
struct OptionsCall {
  explicit OptionsCall(FunctionCallInfo fcinfo) {
    struct Arguments {
      int n;
      char** names;
      Oid* types;
    };
    const Oid function = fcinfo->flinfo->fn_oid;
    const Arguments a = backend([=] {
      Arguments out{0, nullptr, nullptr};
      HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
      if (!HeapTupleIsValid(tuple)) return out;
      char* modes;
      out.n = get_func_arg_info(tuple, &out.types, &out.names, &modes);
      ReleaseSysCache(tuple);
      return out;
    });
    for (int i = 0; i < a.n && a.names != nullptr; ++i) {
      names.emplace_back(a.names[i]);
      const Oid type = a.types[i] == ANYOID ? get_fn_expr_argtype(fcinfo->flinfo, i) : a.types[i];
      declared.push_back(a.types[i]);
      types.push_back(type);
      struct Form {
        int16 length;
        bool by_value;
      } form{0, true};
      if (OidIsValid(type))
        form = backend([=] {
          Form out;
          get_typlenbyval(type, &out.length, &out.by_value);
          return out;
        });
      lengths.push_back(form.length);
      by_value.push_back(form.by_value ? 1 : 0);
    }
  }

  /// The bytes of all arguments: equal for equal calls. Lengths need no mark: every value says where it ends.
  std::string_view key_of(FunctionCallInfo fcinfo) {
    key.clear();
    for (std::size_t i = 0; i < types.size(); ++i) {
      const auto at = static_cast<int>(i);
      key.push_back(PG_ARGISNULL(at) ? 'n' : 'v');
      if (PG_ARGISNULL(at)) continue;
      Datum value = PG_GETARG_DATUM(at);
      if (lengths[i] == -1)
        key.append(argument_key(value));
      else if (lengths[i] == -2)
        key.append(DatumGetCString(value), std::strlen(DatumGetCString(value)) + 1);
      else if (by_value[i] != 0)
        key.append(reinterpret_cast<const char*>(&value), sizeof value);
      else  // double precision and bigint, where Datums have 32 bits
        key.append(DatumGetCString(value), static_cast<std::size_t>(lengths[i]));
    }
    return key;
  }

  std::vector<std::string> names;
  std::vector<Oid> declared, types;
  std::vector<int16> lengths;
  std::vector<char> by_value;
  std::string key;
  Recent<std::string> known;  // payloads of the results
};

Value names_value(Datum array) {
  const Texts texts = text_elements(array);
  Value::Array names;
  for (const auto& text : texts.values) names.push_back(text.has_value() ? Value{*text} : Value{});
  return {std::move(names)};
}

Value text_value(const char* text, std::size_t size) {
  // No JSON object: it would have a colon, or be empty. '{a, b}' are the elements of an array.
  if (size > 2 && text[0] == '{' && std::string_view(text, size).find(':') == std::string_view::npos) {
    const std::string copy(text, size);
    const char* elements = copy.c_str();
    return names_value(backend([=] {
      Oid function, element;
      getTypeInputInfo(TEXTARRAYOID, &function, &element);
      return OidInputFunctionCall(function, const_cast<char*>(elements), element, -1);
    }));
  }
  // An object or an array written as text, for the options that take a name or one of these.
  if (size > 0 && (text[0] == '{' || text[0] == '[')) {
    const std::string copy(text, size);
    const char* json = copy.c_str();
    return value_from(backend([=] { return DirectFunctionCall1(jsonb_in, CStringGetDatum(json)); }));
  }
  return {std::string(text, size)};
}

/// `type`: the argument's; `declared`: the parameter's, which may be "any".
Value argument(Datum datum, Oid type, Oid declared) {
  switch (type) {
    case BOOLOID:
      return {DatumGetBool(datum)};
    case INT2OID:
      return {static_cast<double>(DatumGetInt16(datum))};
    case INT4OID:
      return {static_cast<double>(DatumGetInt32(datum))};
    case FLOAT4OID:
      return {static_cast<double>(DatumGetFloat4(datum))};
    case NUMERICOID:
      return {DatumGetFloat8(backend([=] { return DirectFunctionCall1(numeric_float8, datum); }))};
    case INT8OID:
      return {static_cast<double>(DatumGetInt64(datum))};
    case FLOAT8OID:
      return {DatumGetFloat8(datum)};
    case JSONBOID:
      return value_from(datum);
    case FLOAT4ARRAYOID:
    case FLOAT8ARRAYOID:
    case INT4ARRAYOID:
    case NUMERICARRAYOID:
      return value_from(backend([=] {
        const Datum json = DirectFunctionCall1(array_to_json, datum);
        return DirectFunctionCall1(jsonb_in, CStringGetDatum(TextDatumGetCString(json)));
      }));
    case TEXTARRAYOID:
      return names_value(datum);
    case UNKNOWNOID: {
      const char* text = DatumGetCString(datum);
      return text_value(text, std::strlen(text));
    }
    case TEXTOID:
    case VARCHAROID: {
      const auto* packed = backend([=] { return DatumGetTextPP(datum); });
      return text_value(VARDATA_ANY(packed), VARSIZE_ANY_EXHDR(packed));
    }
    default:
      // The only composite that is declared is margin_model; a row given for "any" may have fields of any name and
      // type.
      if (type == declared && backend([=] { return type_is_rowtype(type); })) return {initial_from(datum)};
      throw Error(ErrorKind::wrong_type, "an option cannot be of type " + type_name_of(type),
                  "Use a number, text or jsonb.");
  }
}

}  // namespace
}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(margin_options) {
  auto& call = query_state<OptionsCall>(fcinfo);
  // A model among the arguments (`initial`) takes long to write as jsonb, and is the same for every row of a training.
  const std::string_view key = call.key_of(fcinfo);
  if (const std::string* made = call.known.find(key)) return jsonb_of_payload(*made);
  margin::Value::Object options;
  for (std::size_t i = 0; i < call.names.size() && i < static_cast<std::size_t>(PG_NARGS()); ++i)
    if (!PG_ARGISNULL(static_cast<int>(i)))
      options[call.names[i]] = argument(PG_GETARG_DATUM(static_cast<int>(i)), call.types[i], call.declared[i]);
  margin::parse_options(options);
  const Datum result = jsonb_from(options);
  const std::string_view made = payload(result);
  call.known.add(key, std::string(made), static_cast<double>(key.size() + made.size()));
  return result;
}
