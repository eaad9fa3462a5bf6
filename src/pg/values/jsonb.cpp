#include "pg/values/jsonb.hpp"

#include "core/base/polled.hpp"
#include "pg/server/interrupts.hpp"
#include "pg/server/memory.hpp"
#include "pg/values/scan_values.hpp"

namespace margin::pg {

namespace {

struct Token {
  JsonbIteratorToken kind;
  JsonbValue value;
};

/// One step of the iterator at a time, so that only plain data is alive where the server might raise. Linear in the
/// size of the value, however deep it is: containers are moved into the ones around them. A cancel is heard
/// every few thousand steps.
class JsonbReader {
 public:
  explicit JsonbReader(Datum datum)
      : iterator_(backend([=] { return JsonbIteratorInit(&DatumGetJsonbP(datum)->root); })) {}

  Value read() { return value(next()); }

 private:
  Token next() {
    JsonbIterator** at = &iterator_;
    session_.work(256);
    return backend([=] {
      Token t;
      t.kind = JsonbIteratorNext(at, &t.value, false);
      return t;
    });
  }

  Value value(const Token& t) {
    backend([] { check_stack_depth(); });
    switch (t.kind) {
      case WJB_BEGIN_OBJECT: {
        Value::Object object;
        for (Token key = next(); key.kind != WJB_END_OBJECT; key = next()) {
          std::string name(key.value.val.string.val, static_cast<std::size_t>(key.value.val.string.len));
          object[std::move(name)] = value(next());
        }
        return {std::move(object)};
      }
      case WJB_BEGIN_ARRAY: {
        const bool scalar = t.value.val.array.rawScalar;
        Value::Array array;
        for (Token item = next(); item.kind != WJB_END_ARRAY; item = next()) array.push_back(value(item));
        if (scalar && array.size() == 1) return std::move(array.front());
        return {std::move(array)};
      }
      default:
        return scalar(t.value);
    }
  }

  static Value scalar(const JsonbValue& v) {
    switch (v.type) {
      case jbvBool:
        return {v.val.boolean};
      case jbvString:
        return {std::string(v.val.string.val, static_cast<std::size_t>(v.val.string.len))};
      case jbvNumeric: {
        const Datum number = NumericGetDatum(v.val.numeric);
        return {backend([=] { return DatumGetFloat8(DirectFunctionCall1(numeric_float8, number)); })};
      }
      default:
        return {std::monostate{}};
    }
  }

  InterruptProgress session_;
  JsonbIterator* iterator_;
};

/// Builds a jsonb step by step; texts live in the current memory context until the result is made.
class Writer {
 public:
  /// Of an object or an array.
  template <class T>
  Datum finish(const T& all) {
    JsonbValue* result = write(all);
    return backend([=] { return JsonbPGetDatum(JsonbValueToJsonb(result)); });
  }

 private:
  JsonbValue* push(JsonbIteratorToken token, JsonbValue* value = nullptr) {
    auto* state = &state_;
    session_.work(256);
    return backend([=] {
#if PG_VERSION_NUM >= 190000
      pushJsonbValue(state, token, value);
      return state->result;
#else
      return pushJsonbValue(state, token, value);
#endif
    });
  }

  JsonbValue* write(const Value::Object& object) {
    push(WJB_BEGIN_OBJECT);
    for (const auto& [key, value] : object) {
      JsonbValue name = string(key);
      push(WJB_KEY, &name);
      write(value, WJB_VALUE);
    }
    return push(WJB_END_OBJECT);
  }

  JsonbValue* write(const Value::Array& array) {
    push(WJB_BEGIN_ARRAY);
    for (const Value& item : array) write(item, WJB_ELEM);
    return push(WJB_END_ARRAY);
  }

  void write(const Value& value, JsonbIteratorToken as) {
    backend([] { check_stack_depth(); });
    JsonbValue v;
    v.type = jbvNull;
    if (const auto* object = std::get_if<Value::Object>(&value.data)) {
      write(*object);
      return;
    }
    if (const auto* array = std::get_if<Value::Array>(&value.data)) {
      write(*array);
      return;
    }
    if (const bool* flag = std::get_if<bool>(&value.data)) {
      v.type = jbvBool;
      v.val.boolean = *flag;
    } else if (const auto* text = std::get_if<std::string>(&value.data)) {
      v = string(*text);
    } else if (const double* number = std::get_if<double>(&value.data)) {
      v = numeric(*number);
    }
    push(as, &v);
  }

  static JsonbValue string(const std::string& text) {
    require_text(text);
    JsonbValue v;
    v.type = jbvString;
    const char* from = text.data();
    const std::size_t size = text.size();
    v.val.string.val = backend([=] { return pnstrdup(from, size); });
    v.val.string.len = static_cast<int>(size);
    return v;
  }

  // Through the shortest decimal: the server's own cast would keep 15 digits only.
  static JsonbValue numeric(double number) {
    char text[40];
    *std::to_chars(text, text + sizeof text - 1, number).ptr = '\0';
    const char* digits = text;
    JsonbValue v;
    v.type = jbvNumeric;
    v.val.numeric = backend([=] {
      return DatumGetNumeric(
          DirectFunctionCall3(numeric_in, CStringGetDatum(digits), ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1)));
    });
    return v;
  }

  InterruptProgress session_;
#if PG_VERSION_NUM >= 190000
  JsonbInState state_{};
#else
  JsonbParseState* state_ = nullptr;
#endif
};

std::int32_t index_of(const std::string& key) {
  std::int32_t index = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), index);
  if (error != std::errc() || end != key.data() + key.size() || index < 1)
    throw Error(ErrorKind::invalid_value, "the key \"" + key + "\" is not an index",
                "Keys are whole numbers from 1 to 2147483647, as in {\"7\": 2}.");
  return index;
}

}  // namespace

Value value_from(Datum jsonb) { return JsonbReader(jsonb).read(); }

Value::Object options_from(Datum jsonb) {
  Value value = value_from(jsonb);
  if (auto* object = std::get_if<Value::Object>(&value.data)) return std::move(*object);
  if (std::holds_alternative<std::monostate>(value.data)) return {};  // as NULL: no options
  throw Error(ErrorKind::invalid_option, "options must be a jsonb object",
              "Use margin_options(name => value, ...), or '{\"name\": value}'::jsonb.");
}

SparseVector sparse_of(const Value& value) {
  const auto* object = std::get_if<Value::Object>(&value.data);
  if (object == nullptr)
    throw Error(ErrorKind::invalid_value, "features as jsonb must be an object",
                "Write the index and value of each non-zero: '{\"1\": 0.5, \"7\": 2}'.");
  std::vector<std::int32_t> indices;
  std::vector<double> values;
  InterruptProgress session;
  for (const auto& [key, item] : *object) {
    session.work(256);
    indices.push_back(index_of(key));
    const double* number = std::get_if<double>(&item.data);
    if (number == nullptr)
      throw Error(ErrorKind::invalid_value, "the value of the key \"" + key + "\" is not a number");
    values.push_back(*number);
  }
  return make_sparse(indices.data(), values.data(), indices.size(), 0, session);
}

Datum jsonb_from(const Value::Object& options) { return Writer().finish(options); }
Datum jsonb_from(const Value::Array& values) { return Writer().finish(values); }

std::string_view payload(Datum jsonb) {
  auto* raw = reinterpret_cast<varlena*>(DatumGetPointer(jsonb));
  if (VARATT_IS_COMPRESSED(raw) || VARATT_IS_EXTERNAL(raw)) raw = backend([=] { return pg_detoast_datum_packed(raw); });
  return {VARDATA_ANY(raw), VARSIZE_ANY_EXHDR(raw)};
}

Datum jsonb_of_payload(std::string_view payload) {
  const char* from = payload.data();
  const std::size_t size = payload.size();
  auto* const to = static_cast<varlena*>(allocate_in(CurrentMemoryContext, size + VARHDRSZ));
  SET_VARSIZE(to, size + VARHDRSZ);
  polled_copy(VARDATA(to), from, size, InterruptProgress());
  return PointerGetDatum(to);
}

}  // namespace margin::pg
