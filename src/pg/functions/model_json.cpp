// A model as jsonb and back: margin_to_json, margin_from_json. Keys are the attributes of margin_model, NULL is left
// out; numbers are the shortest decimals that read back as the same bits. JSON has no infinity and jsonb no negative
// zero: they are the strings "Infinity", "-Infinity" and "-0".
#include "core/analysis/update.hpp"
#include "core/report/inspect.hpp"
#include "pg/server/interrupts.hpp"
#include "pg/values/jsonb.hpp"
#include "pg/values/kernel_model.hpp"
#include "pg/values/model_datum.hpp"

namespace margin::pg {
namespace {

constexpr const char* type_name = "margin_model";

Value number_value(double v) {
  if (!std::isfinite(v) || (v == 0 && std::signbit(v))) return {number_text(v)};
  return {v};
}

constexpr double number_work = 64;  // of a number as a value, or back

Value::Array number_array(const double* from, std::size_t count, const Progress& session) {
  Value::Array out;
  out.reserve(count);
  for (std::size_t j = 0; j < count; ++j) {
    session.work(number_work);
    out.push_back(number_value(from[j]));
  }
  return out;
}

Value number_values(const Matrix& m) {
  const InterruptProgress session;
  Value numbers;
  if (m.columns == 0) {
    numbers.data = number_array(m.values.data(), m.values.size(), session);
    return numbers;
  }
  Value::Array out(m.rows);
  for (std::size_t i = 0; i < m.rows; ++i)
    out[i].data = number_array(m.values.data() + i * m.columns, m.columns, session);
  numbers.data = std::move(out);
  return numbers;
}

/// False for attributes that ALTER TYPE has added: of them nothing is known but the type, whose own text they are in
/// JSON.
bool is_own(const Attribute& field) {
  static constexpr std::string_view names =
      " solver columns loss norm lambda status classes weights dual gap rows intercept iterations "
      "margin_lower margin_upper primal skipped support dimensions seconds options history kernel "
      "calibration stumps dual_weights kernel_parameters support_vectors sparse_support_vectors "
      "target_center target_scale encoder ball curvature prices ";
  return names.find(" " + field.name + " ") != std::string_view::npos;
}

/// The same text whatever the session's style of dates: it is read elsewhere, at another time.
Value output_of(Datum value, Oid type) {
  return {std::string(backend([=] {
    Oid function = InvalidOid;
    bool varlena = false;
    getTypeOutputInfo(type, &function, &varlena);
    const int level = NewGUCNestLevel();
    for (const auto& [setting, style] : {std::pair("datestyle", "ISO"), std::pair("intervalstyle", "postgres")})
      set_config_option(setting, style, PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
    char* text = OidOutputFunctionCall(function, value);
    AtEOXact_GUC(true, level);
    return text;
  }))};
}

Datum input_of(const Attribute& field, const std::string& text) {
  const char* from = text.c_str();
  const Oid type = field.type;
  const std::int32_t modifier = field.modifier;
  return backend([=] {
    Oid function = InvalidOid, parameter = InvalidOid;
    getTypeInputInfo(type, &function, &parameter);
    return OidInputFunctionCall(function, const_cast<char*>(from), parameter, modifier);
  });
}

/// The value of an attribute; monostate for NULL.
Value read_field(const CompositeReader& reader, const Attribute& field) {
  const char* name = field.name.c_str();
  if (!is_own(field)) {
    const auto value = reader.get(name, field.type);
    return value.has_value() ? output_of(*value, field.type) : Value{};
  }
  switch (field.type) {
    case TEXTOID:
      if (auto text = reader.string(name)) return {std::move(*text)};
      break;
    case FLOAT8OID:
      if (const auto number = reader.float8(name)) return number_value(*number);
      break;
    case INT8OID:
      if (const auto count = reader.int8(name)) return {static_cast<double>(*count)};
      break;
    case INT4OID:
      if (const auto size = reader.int4(name)) return {static_cast<double>(*size)};
      break;
    case TEXTARRAYOID:
      if (auto texts = reader.strings(name)) {
        Value::Array out;
        for (std::string& text : *texts) out.push_back({std::move(text)});
        return {std::move(out)};
      }
      break;
    case FLOAT8ARRAYOID:
      if (const auto numbers = reader.numbers(name, true)) return number_values(*numbers);
      break;
    case INT4ARRAYOID:
      if (const auto numbers = reader.integers(name)) return number_values({{numbers->begin(), numbers->end()}, 0, 0});
      break;
    case JSONBOID:
      if (const auto jsonb = reader.get(name, JSONBOID)) return value_from(*jsonb);
      break;
    default:  // margin_sparse[], the only type without an OID that is constant
      if (const auto vectors = reader.get(name, field.type)) {
        if (!is_sparse_array(field.type)) return output_of(*vectors, field.type);
        Value::Array out;
        for (std::string& text : sparse_texts(*vectors)) out.push_back({std::move(text)});
        return {std::move(out)};
      }
  }
  return {};
}

[[noreturn]] void refuse(std::string_view field, const std::string& problem) {
  throw Error(ErrorKind::malformed, "malformed model: field \"" + std::string(field) + "\" " + problem,
              "Use models as margin_to_json wrote them.");
}

double number_of(const Attribute& field, const Value& v, const char* expected) {
  if (const double* number = std::get_if<double>(&v.data)) return *number;
  if (const auto* text = std::get_if<std::string>(&v.data)) {
    if (*text == "Infinity") return std::numeric_limits<double>::infinity();
    if (*text == "-Infinity") return -std::numeric_limits<double>::infinity();
    if (*text == "-0") return -0.0;
  }
  refuse(field.name, std::string("must be ") + expected);
}

const Value::Array& array_of(const Attribute& field, const Value& v, const char* expected) {
  const auto* array = std::get_if<Value::Array>(&v.data);
  if (array == nullptr) refuse(field.name, std::string("must be ") + expected);
  return *array;
}

Datum numbers_datum(const Attribute& field, const Value& v) {
  constexpr const char* expected = "an array of numbers, or of arrays of numbers of one length";
  const Value::Array& array = array_of(field, v, expected);
  const auto is_row = [](const Value& item) { return std::holds_alternative<Value::Array>(item.data); };
  const InterruptProgress session;
  std::vector<double> values;
  const auto take = [&](const Value& number) {
    session.work(number_work);
    values.push_back(number_of(field, number, expected));
  };
  if (array.empty() || !is_row(array.front())) {
    for (const Value& item : array) take(item);
    return float8_array(values.data(), values.size());
  }
  const std::size_t columns = std::get<Value::Array>(array.front().data).size();
  for (const Value& item : array) {
    const Value::Array& row = array_of(field, item, expected);
    if (row.size() != columns || columns == 0) refuse(field.name, std::string("must be ") + expected);
    for (const Value& cell : row) take(cell);
  }
  return float8_matrix(values.data(), array.size(), columns);
}

double whole_of(const Attribute& field, const Value& v, double most) {
  const double* number = std::get_if<double>(&v.data);
  if (number == nullptr || !(*number >= 0 && *number <= most && *number == std::floor(*number)))
    refuse(field.name, "must be a whole number of 0 or more");
  return *number;
}

std::vector<std::string> texts_of(const Attribute& field, const Value& v) {
  std::vector<std::string> texts;
  for (const Value& item : array_of(field, v, "an array of strings")) {
    const auto* text = std::get_if<std::string>(&item.data);
    if (text == nullptr) refuse(field.name, "must be an array of strings");
    texts.push_back(*text);
  }
  return texts;
}

/// A value of an attribute that is not ours: its text, or what JSON has instead of quotes.
Datum foreign_datum(const Attribute& field, const Value& v) {
  if (const auto* text = std::get_if<std::string>(&v.data)) return input_of(field, *text);
  if (const auto* number = std::get_if<double>(&v.data)) return input_of(field, number_text(*number));
  if (const auto* flag = std::get_if<bool>(&v.data)) return input_of(field, *flag ? "true" : "false");
  refuse(field.name, "must be a string: a value of type " + type_name_of(field.type) + " as text");
}

Datum field_datum(const Attribute& field, const Value& v) {
  if (!is_own(field)) return foreign_datum(field, v);
  switch (field.type) {
    case TEXTOID: {
      const auto* text = std::get_if<std::string>(&v.data);
      if (text == nullptr) refuse(field.name, "must be a string");
      return text_datum(*text);
    }
    case FLOAT8OID:
      return Float8GetDatum(number_of(field, v, "a number"));
    case INT8OID:
      return Int64GetDatum(static_cast<std::int64_t>(whole_of(field, v, 0x1p53)));
    case INT4OID:
      return Int32GetDatum(static_cast<std::int32_t>(whole_of(field, v, 2147483647.0)));
    case TEXTARRAYOID:
      return text_array(texts_of(field, v));
    case FLOAT8ARRAYOID:
      return numbers_datum(field, v);
    case INT4ARRAYOID: {
      std::vector<std::int32_t> numbers;
      for (const Value& item : array_of(field, v, "an array of whole numbers"))
        numbers.push_back(static_cast<std::int32_t>(whole_of(field, item, 2147483647.0)));
      return integer_array(numbers);
    }
    case JSONBOID: {
      const auto* object = std::get_if<Value::Object>(&v.data);
      if (object == nullptr) refuse(field.name, "must be an object");
      if (field.name == "encoder") return jsonb_from(*object);  // checked with the model that it belongs to
      const std::string problem = margin::refusal_of(*object);
      if (!problem.empty()) refuse(field.name, "is not valid: " + problem);
      return jsonb_from(*object);
    }
    default:
      if (!is_sparse_array(field.type)) return foreign_datum(field, v);
      return sparse_array(texts_of(field, v), field.type);
  }
}

/// What no single field shows.
void check_together(Datum composite) {
  Model model = read_model(composite);
  settings_of(model);
  read_figures(composite, model);
  const CompositeReader reader(composite, type_name);
  const auto history = reader.numbers("history", true);
  if (history.has_value() && !history->values.empty() && history->columns != 4 && history->columns != 6)
    reader.refuse("history", "must have 4 or 6 columns");
  const auto status = reader.string("status");
  if (status.has_value() && !is_status(*status))
    reader.refuse("status", "is \"" + *status + "\", which is not a status");
}

}  // namespace

Datum model_from_attributes(FunctionCallInfo fcinfo, const Value::Object& object) {
  CompositeBuilder out(fcinfo);
  const std::vector<Attribute> fields = out.attributes();
  for (const auto& [key, item] : object) {
    const Attribute* known = nullptr;
    std::vector<std::string_view> names;
    for (const Attribute& field : fields) {
      names.push_back(field.name);
      if (key == field.name) known = &field;
    }
    if (known == nullptr)
      throw Error(ErrorKind::malformed, "malformed model: unknown field \"" + key + "\"", name_hint(key, names));
    if (!std::holds_alternative<std::monostate>(item.data))
      out.set(known->name.c_str(), known->type, field_datum(*known, item));
  }
  const Datum composite = out.finish();
  check_together(composite);
  return composite;
}

}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(margin_to_json) {
  read_model(PG_GETARG_DATUM(0));  // throws for what is none
  const CompositeReader reader(PG_GETARG_DATUM(0), type_name);
  margin::Value::Object object;
  for (const Attribute& field : reader.attributes()) {
    margin::Value value = read_field(reader, field);
    if (!std::holds_alternative<std::monostate>(value.data)) object[field.name] = std::move(value);
  }
  return jsonb_from(object);
}

MARGIN_FUNCTION(margin_from_json) {
  margin::Value value = value_from(PG_GETARG_DATUM(0));
  const auto* object = std::get_if<margin::Value::Object>(&value.data);
  if (object == nullptr)
    throw margin::Error(margin::ErrorKind::malformed, "malformed model: expected a jsonb object",
                        "Use models as margin_to_json wrote them.");
  return model_from_attributes(fcinfo, *object);
}
