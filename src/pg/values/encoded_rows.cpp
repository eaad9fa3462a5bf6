#include "pg/values/encoded_rows.hpp"

#include "pg/server/interrupts.hpp"
#include "pg/server/memory.hpp"
#include "pg/values/jsonb.hpp"
#include "pg/values/sparse_datum.hpp"

namespace margin::pg {

namespace {

double category_cell(const Encoder& encoder, std::size_t j, std::string_view name) {
  const std::int32_t known = encoder.category(j, name);
  if (known < 0) encoder.require_known(j, name);
  return known;
}

const char* described(const JsonbValue& value) {
  switch (value.type) {
    case jbvNull:
      return "null";
    case jbvString:
      return "a string";
    case jbvNumeric:
      return "a number";
    case jbvBool:
      return "a boolean";
    default:
      return JsonContainerIsArray(value.val.binary.data) ? "an array" : "an object";
  }
}

const char* expected(ColumnKind kind) {
  switch (kind) {
    case ColumnKind::number:
      return "a number";
    case ColumnKind::boolean:
      return "true or false";
    case ColumnKind::date:
      return "a string with a date";
    case ColumnKind::interval:
      return "a string with an interval";
    case ColumnKind::time:
      return "a string with a time of day";
    case ColumnKind::category:
      return "a string";
    case ColumnKind::dense:
      return "an array of numbers";
    case ColumnKind::set:
      return "an array of strings";
    default:
      return "an array of numbers, or an object of index: value";
  }
}

constexpr const char* lexemes = "tsvector";  // of which to_jsonb() makes a string

bool fits(const Column& column, const JsonbValue& value) {
  switch (column.kind) {
    case ColumnKind::number:
      return value.type == jbvNumeric;
    case ColumnKind::boolean:
      return value.type == jbvBool;
    case ColumnKind::dense:  // a string: pgvector's types have no other form in jsonb
      return value.type == jbvString || (value.type == jbvBinary && JsonContainerIsArray(value.val.binary.data));
    case ColumnKind::sparse:
      return value.type == jbvString || value.type == jbvBinary;
    case ColumnKind::set:
      return (value.type == jbvString && column.type == lexemes) ||
             (value.type == jbvBinary && JsonContainerIsArray(value.val.binary.data));
    default:
      return value.type == jbvString;
  }
}

std::string_view text_of(const JsonbValue& value) {
  return {value.val.string.val, static_cast<std::size_t>(value.val.string.len)};
}

/// A trailing blank means nothing in the type character, which to_jsonb() writes with all of its.
std::string_view category_of(const Column& column, std::string_view text) {
  if (column.type != "character" && column.type != "character[]") return text;
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// A date, interval or time as its column has them.
double time_cell(const Column& column, const JsonbValue& value) {
  const PGFunction input = column.kind == ColumnKind::interval         ? interval_in
                           : column.kind == ColumnKind::time           ? time_in
                           : column.type == "timestamp with time zone" ? timestamptz_in
                                                                       : timestamp_in;
  const Oid type = column.kind == ColumnKind::interval ? INTERVALOID
                   : column.kind == ColumnKind::time   ? TIMEOID
                                                       : TIMESTAMPOID;
  const std::string_view text = text_of(value);
  const Datum moment = backend([=] {
    return DirectFunctionCall3(input, CStringGetDatum(pnstrdup(text.data(), text.size())), ObjectIdGetDatum(InvalidOid),
                               Int32GetDatum(-1));
  });
  return cell_type_of(type)->number(moment);
}

FeatureRow dense_block(const Value::Array& array, const Progress& session) {
  auto* to = static_cast<double*>(allocate_in(CurrentMemoryContext, array.size() * sizeof(double)));
  for (std::size_t i = 0; i < array.size(); ++i) {
    session.work(16);
    const double* number = std::get_if<double>(&array[i].data);
    if (number == nullptr)
      throw Error(
          std::holds_alternative<std::monostate>(array[i].data) ? ErrorKind::null_value : ErrorKind::invalid_value,
          "element " + std::to_string(i + 1) + " is " + describe(array[i]) + ", expected a number");
    to[i] = *number;
  }
  return dense_row(to, static_cast<std::int32_t>(array.size()));
}

FeatureRow block_cell(const Column& column, const JsonbValue& found) {
  InterruptProgress session;
  if (found.type == jbvString && column.kind == ColumnKind::sparse)
    return sparse_from(sparse_datum(parse_sparse(text_of(found), session)));
  const JsonbValue* at = &found;
  const Datum whole = backend([=] {
    if (at->type != jbvString) return JsonbPGetDatum(JsonbValueToJsonb(const_cast<JsonbValue*>(at)));
    return DirectFunctionCall1(jsonb_in, CStringGetDatum(pnstrdup(at->val.string.val, at->val.string.len)));
  });
  const Value value = value_from(whole);
  if (const auto* array = std::get_if<Value::Array>(&value.data)) return dense_block(*array, session);
  if (column.kind == ColumnKind::sparse) return sparse_from(sparse_datum(sparse_of(value)));
  throw Error(ErrorKind::invalid_value, "the string is no array of numbers");
}

}  // namespace

bool is_jsonb(Oid type) {
  return backend([=] { return OidIsValid(type) && getBaseType(type) == JSONBOID; });
}

/// All keys in one guarded call; numbers are cells at once.
void ObjectRow::find(const Encoder& encoder, Datum jsonb) {
  const std::vector<Column>& columns = encoder.columns();
  const std::size_t n = columns.size();
  found_.resize(n);
  sets_.resize(n);
  cells_.resize(n);
  struct Found {
    bool object;
    std::size_t columns;
  };
  const Column* column = columns.data();
  JsonbValue* found = found_.data();
  double* cells = cells_.values.data();
  const Found all = backend([=] {
    JsonbContainer* root = &DatumGetJsonbP(jsonb)->root;
    Found out{JsonContainerIsObject(root), 0};
    for (; out.object && out.columns < n; ++out.columns) {
      const std::size_t j = out.columns;
      if (getKeyJsonValueFromContainer(root, column[j].name.data(), static_cast<int>(column[j].name.size()),
                                       found + j) == nullptr) {
        if (!column[j].grouping) break;
        found[j].type = jbvNull;
      }
      if (found[j].type == jbvNumeric)
        cells[j] =
            DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, NumericGetDatum(found[j].val.numeric)));
    }
    return out;
  });
  if (!all.object)
    throw Error(ErrorKind::wrong_type, "the features are jsonb, but not an object",
                "Give an object with a key for each column of the training.");
  if (all.columns == n) return;
  const Value::Object object = options_from(jsonb);
  std::vector<std::string_view> names;
  constexpr std::size_t most = 1000;  // an object has as many keys as it likes, and a misspelt one is sought among them
  for (const auto& [key, value] : object)
    if (names.size() < most) names.push_back(key);
  throw absent_column(columns[all.columns].name, columns, names, "object", "key",
                      "Give an object with a key for each column of the training, null where there is no value; "
                      "additional ones do not matter.");
}

void ObjectRow::read_set(const Encoder& encoder, std::size_t j, const JsonbValue& found) {
  const Column& column = encoder.columns()[j];
  SetCell& set = sets_[j];
  set.clear();
  const auto add = [&](std::string_view text) { set.add(static_cast<std::int32_t>(category_cell(encoder, j, text))); };
  const JsonbValue* at = &found;
  if (found.type == jbvString) {
    const std::string_view text = text_of(found);
    const Datum vector = backend([=] {  // by OID: not every build of the server exports the function
      return OidInputFunctionCall(F_TSVECTORIN, pnstrdup(text.data(), text.size()), InvalidOid, -1);
    });
    for_each_element(column.name, CellType{ColumnKind::set}, vector, add);
  } else {
    const InterruptProgress session;
    const Value value =
        value_from(backend([=] { return JsonbPGetDatum(JsonbValueToJsonb(const_cast<JsonbValue*>(at))); }));
    for (const Value& element : std::get<Value::Array>(value.data)) {
      session.work(64);
      if (std::holds_alternative<std::monostate>(element.data)) throw null_element(column.name);
      const auto* text = std::get_if<std::string>(&element.data);
      if (text == nullptr)
        throw Error(ErrorKind::wrong_type,
                    "column \"" + column.name + "\" has the element " + describe(element) + ", expected a string",
                    "Elements are strings also where they are digits: [\"1\", \"2\"].");
      add(category_of(column, *text));
    }
  }
  cells_.blocks[j] = set.row();
}

const Cells& ObjectRow::read(const Encoder& encoder, Datum jsonb) {
  find(encoder, jsonb);
  for (std::size_t j = 0; j < found_.size(); ++j) {
    const Column& column = encoder.columns()[j];
    const JsonbValue& value = found_[j];
    double& cell = cells_.values[j];
    if (value.type == jbvNull) {
      cell = std::numeric_limits<double>::quiet_NaN();
      continue;
    }
    if (!fits(column, value))
      throw Error(ErrorKind::wrong_type,
                  "key \"" + column.name + "\" has " + described(value) + ", expected " + expected(column.kind),
                  "Write it so, or have the server convert it: jsonb_populate_record(NULL::table, object).",
                  "The model was trained on " + column.type + ".");
    if (column.kind == ColumnKind::set) {
      cell = 0;
      read_set(encoder, j, value);
    } else if (block(column.kind)) {
      cell = 0;
      cells_.blocks[j] = block_of(column, [&] { return block_cell(column, value); });
    } else if (column.kind == ColumnKind::category) {
      cell = category_cell(encoder, j, category_of(column, text_of(value)));
    } else {
      if (column.kind == ColumnKind::boolean) cell = value.val.boolean ? 1 : 0;
      if (value.type == jbvString) cell = time_cell(column, value);
      if (!std::isfinite(cell)) throw infinite_number(column, cell);
    }
  }
  return cells_;
}

std::optional<FeatureRow> EncodedRows::read(const Encoder& encoder, const OpenRow& row) {
  of_objects_ = false;
  if (!binding_.bound_to(row)) binding_.bind(encoder.columns(), row);
  const Cells& cells = binding_.read(
      encoder.columns(), row, [&](std::size_t j, std::string_view name) { return category_cell(encoder, j, name); });
  return encoder.encode(cells, scratch_);
}

std::optional<FeatureRow> EncodedRows::read_object(const Encoder& encoder, Datum jsonb) {
  of_objects_ = true;
  return encoder.encode(object_.read(encoder, jsonb), scratch_);
}

}  // namespace margin::pg
