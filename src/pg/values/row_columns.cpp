#include "pg/values/row_columns.hpp"

#include <cctype>
#include <set>

#include "core/encoder/fit_column.hpp"
#include "core/math/rounding.hpp"
#include "pg/values/composite.hpp"
#include "pg/values/features.hpp"

namespace margin::pg {

namespace {

constexpr const char* accepted_columns =
    "numbers, boolean, text, varchar, character, name, enums, uuid, date, timestamp, interval, time, arrays of "
    "numbers, "
    "margin_sparse, arrays of texts, tsvector, and pgvector's vector, halfvec, sparsevec";

constexpr double days_before_2000 = 10957, day = 86400e6;

double from_bool(Datum d) { return DatumGetBool(d) ? 1 : 0; }
double from_int2(Datum d) { return DatumGetInt16(d); }
double from_int4(Datum d) { return DatumGetInt32(d); }
double from_int8(Datum d) { return static_cast<double>(DatumGetInt64(d)); }
double from_float4(Datum d) { return static_cast<double>(DatumGetFloat4(d)); }
double from_float8(Datum d) { return DatumGetFloat8(d); }
double from_numeric(Datum d) {
  return backend([=] { return DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, d)); });
}
double infinite(bool negative) { return negative ? -infinity : infinity; }
double from_date(Datum d) {
  const DateADT date = DatumGetDateADT(d);
  return DATE_NOT_FINITE(date) ? infinite(DATE_IS_NOBEGIN(date)) : date + days_before_2000;
}
double from_timestamp(Datum d) {
  const Timestamp t = DatumGetTimestamp(d);
  return TIMESTAMP_NOT_FINITE(t) ? infinite(TIMESTAMP_IS_NOBEGIN(t)) : static_cast<double>(t) / day + days_before_2000;
}
double from_interval(Datum d) {
  const Interval* i = DatumGetIntervalP(d);
  // As extract(epoch from ...) counts: a year has 365.25 days, a month 30.
  return (i->month / 12) * 365.25 + (i->month % 12) * 30.0 + i->day + static_cast<double>(i->time) / day;
}
double from_time(Datum d) { return static_cast<double>(DatumGetTimeADT(d)) / 3600e6; }

struct Scalar {
  Oid type;
  ColumnKind kind;
  double (*number)(Datum);
};

constexpr Scalar scalars[] = {
    {BOOLOID, ColumnKind::boolean, from_bool},          {INT2OID, ColumnKind::number, from_int2},
    {INT4OID, ColumnKind::number, from_int4},           {INT8OID, ColumnKind::number, from_int8},
    {FLOAT4OID, ColumnKind::number, from_float4},       {FLOAT8OID, ColumnKind::number, from_float8},
    {NUMERICOID, ColumnKind::number, from_numeric},     {DATEOID, ColumnKind::date, from_date},
    {TIMESTAMPOID, ColumnKind::date, from_timestamp},   {TIMESTAMPTZOID, ColumnKind::date, from_timestamp},
    {INTERVALOID, ColumnKind::interval, from_interval}, {TIMEOID, ColumnKind::time, from_time},
};

bool is_text(Oid type) {
  return type == TEXTOID || type == VARCHAROID || type == BPCHAROID || type == NAMEOID || type == CHAROID ||
         backend([=] { return type_is_enum(type); });
}

std::string listed(const std::vector<std::string_view>& names) {
  constexpr std::size_t most = 40;
  std::string all;
  for (std::size_t i = 0; i < names.size() && i < most; ++i) all += (i == 0 ? "" : ", ") + std::string(names[i]);
  return all + (names.size() > most ? ", ..." : "");
}

/// The labels of an enum in its order; none of another type.
std::vector<std::string> enum_labels(Oid declared) {
  struct Label {
    float order;
    NameData name;
  };
  struct Labels {
    Label* at;
    int count;
  };
  const Labels labels = backend([=] {
    Labels out{nullptr, 0};
    const Oid type = getBaseType(declared);
    if (!type_is_enum(type)) return out;
    CatCList* list = SearchSysCacheList1(ENUMTYPOIDNAME, ObjectIdGetDatum(type));
    out.count = list->n_members;
    out.at = static_cast<Label*>(palloc0(sizeof(Label) * static_cast<std::size_t>(out.count + 1)));
    for (int i = 0; i < out.count; ++i) {
      const auto* entry = reinterpret_cast<const FormData_pg_enum*>(GETSTRUCT(&list->members[i]->tuple));
      out.at[i] = {entry->enumsortorder, entry->enumlabel};
    }
    ReleaseSysCacheList(list);
    return out;
  });
  std::sort(labels.at, labels.at + labels.count, [](const Label& a, const Label& b) { return a.order < b.order; });
  std::vector<std::string> out;
  for (int i = 0; i < labels.count; ++i) out.emplace_back(NameStr(labels.at[i].name));
  return out;
}

const OpenRow::Attribute* find(const OpenRow& row, const std::string& name) {
  for (const OpenRow::Attribute& a : row.attributes)
    if (a.name == name) return &a;
  return nullptr;
}

}  // namespace

const OpenRow& RowOpener::open(Datum composite) {
  struct Opened {
    std::uint64_t layout;
    TupleDesc descriptor;
  };
  const auto* raw = reinterpret_cast<const varlena*>(DatumGetPointer(composite));
  if (VARATT_IS_EXTENDED(raw)) composite = backend([=] { return PointerGetDatum(composite_header(composite)); });
  auto* header = reinterpret_cast<HeapTupleHeader>(DatumGetPointer(composite));
  const std::uint64_t known = row_.layout;
  TupleDesc descriptor = descriptor_;
  MemoryContext context = context_;
  Datum* values = row_.values.data();
  bool* nulls = reinterpret_cast<bool*>(row_.nulls.data());
  static_assert(sizeof(bool) == 1);
  // One guarded call for a row of known columns.
  const Opened opened = backend([=] {
    Opened out{};
    const Oid type = HeapTupleHeaderGetTypeId(header);
    const std::int32_t modifier = HeapTupleHeaderGetTypMod(header);
    out.layout = assign_record_type_identifier(type, modifier);
    out.descriptor = descriptor;
    if (out.layout == known) {
      HeapTupleData tuple{};
      tuple.t_len = HeapTupleHeaderGetDatumLength(header);
      tuple.t_data = header;
      heap_deform_tuple(&tuple, descriptor, values, nulls);
      return out;
    }
    MemoryContext caller = MemoryContextSwitchTo(context);
    out.descriptor = lookup_rowtype_tupdesc_copy(type, modifier);
    MemoryContextSwitchTo(caller);
    return out;
  });
  if (opened.layout == known) return row_;
  if (descriptor != nullptr) backend([=] { FreeTupleDesc(descriptor); });
  descriptor_ = opened.descriptor;
  row_.attributes.clear();
  for (int i = 0; i < descriptor_->natts; ++i) {
    const FormData_pg_attribute* attribute = TupleDescAttr(descriptor_, i);
    if (!attribute->attisdropped)
      row_.attributes.push_back({NameStr(attribute->attname), attribute->atttypid, static_cast<std::size_t>(i)});
  }
  row_.values.assign(static_cast<std::size_t>(descriptor_->natts), 0);
  row_.nulls.assign(row_.values.size(), 1);
  row_.layout = opened.layout;
  return open(composite);
}

/// Of an array of texts; nothing for another type.
static std::optional<CellType> set_type_of(Oid array) {
  const Oid element = backend([=] {
    const Oid of = get_element_type(array);
    return OidIsValid(of) ? getBaseType(of) : of;
  });
  if (element != UUIDOID && (!OidIsValid(element) || !is_text(element))) return std::nullopt;
  CellType out{ColumnKind::set};
  if (element != UUIDOID) out.text = LabelReader(element);
  out.element = element;
  return out;
}

std::optional<CellType> cell_type_of(Oid declared) {
  const Oid type = backend([=] { return getBaseType(declared); });
  for (const Scalar& s : scalars)
    if (s.type == type) return CellType{s.kind, s.number};
  if (type == UUIDOID) return CellType{ColumnKind::category};
  if (type == UNKNOWNOID) return std::nullopt;
  if (is_text(type)) return CellType{ColumnKind::category, nullptr, nullptr, LabelReader(type)};
  if (type == TSVECTOROID) return CellType{ColumnKind::set};
  if (const std::optional<CellType> set = set_type_of(type)) return set;
  if (const FeatureRowReader read = array_reader(type)) return CellType{ColumnKind::dense, nullptr, read};
  if (const FeatureRowReader read = extension_reader(type))
    return CellType{is_dense_type(type) ? ColumnKind::dense : ColumnKind::sparse, nullptr, read};
  return std::nullopt;
}

std::vector<Column> training_columns(const OpenRow& row, const EncoderRules& rules) {
  std::vector<std::string_view> names;
  for (const OpenRow::Attribute& a : row.attributes) names.push_back(a.name);
  require_named_columns(rules, names);
  std::vector<Column> columns;
  for (const OpenRow::Attribute& a : row.attributes) {
    const bool grouping = is_grouping(rules, a.name);
    if (!grouping && !is_feature(rules, a.name)) continue;
    const std::optional<CellType> type = cell_type_of(a.type);
    if (!type.has_value())
      throw Error(ErrorKind::wrong_type,
                  "column \"" + a.name + "\" is of type " + type_name_of(a.type) + ", which cannot be a feature",
                  std::string("Taken are ") + accepted_columns +
                      ". Cast it, or leave it out: margin_options(exclude => '{" + a.name + "}').");
    columns.push_back(Column{a.name, type_name_of(a.type), type->kind});
    columns.back().grouping = grouping;
    if (type->kind == ColumnKind::category) columns.back().order = enum_labels(a.type);
  }
  if (columns.empty()) throw no_feature_left();
  std::sort(columns.begin(), columns.end(), [](const Column& a, const Column& b) { return a.name < b.name; });
  for (std::size_t j = 1; j < columns.size(); ++j)
    if (columns[j].name == columns[j - 1].name)
      throw Error(ErrorKind::wrong_type, "the row has two columns named \"" + columns[j].name + "\"",
                  "Rename one of them: features are known by the names of their columns.");
  return columns;
}

Error absent_column(const std::string& column, const std::vector<Column>& columns,
                    const std::vector<std::string_view>& names, const std::string& row, const std::string& part,
                    const std::string& hint) {
  // What is another column is no misspelling of this one.
  std::set<std::string_view> known;
  for (const Column& c : columns) known.insert(c.name);
  std::vector<std::string_view> others;
  std::string near;
  for (const std::string_view name : names) {
    if (known.count(name) > 0) continue;
    others.push_back(name);
    const auto same = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
    if (std::equal(name.begin(), name.end(), column.begin(), column.end(), same))
      near = "Did you mean \"" + std::string(name) + "\"?";
  }
  if (near.empty() && !others.empty()) near = name_hint(column, others);
  return {ErrorKind::wrong_type,
          "the " + row + " has no " + part + " \"" + column + "\", which the model was trained on",
          hint + (near.rfind("Did you mean", 0) == 0 ? " Is it misspelt? " + near : ""),
          names.empty() ? "The " + row + " is empty." : "The " + row + " has the " + part + "s " + listed(names) + "."};
}

Error infinite_number(const Column& column, double value) {
  return {ErrorKind::invalid_value,
          "column \"" + column.name + "\" is " + number_text(value) + ", expected a finite number",
          "Replace it, or have it count as missing: NULL."};
}

void RowBinding::bind(const std::vector<Column>& columns, const OpenRow& row) {
  layout_ = 0;
  bound_.clear();
  for (const Column& c : columns) {
    const OpenRow::Attribute* a = find(row, c.name);
    if (a == nullptr && c.grouping) {
      bound_.push_back({absent, {}});
      continue;
    }
    if (a == nullptr) {
      std::vector<std::string_view> names;
      for (const OpenRow::Attribute& attribute : row.attributes) names.push_back(attribute.name);
      throw absent_column(
          c.name, columns, names, "row", "column",
          "Give a row with the columns of the training; their order and additional ones do not matter.");
    }
    const std::optional<CellType> type = cell_type_of(a->type);
    const bool fits =
        type.has_value() && (type->kind == c.kind || (c.kind == ColumnKind::sparse && type->kind == ColumnKind::dense));
    if (!fits)
      throw Error(
          ErrorKind::wrong_type,
          "column \"" + c.name + "\" is of type " + type_name_of(a->type) + ", and the model was trained on " + c.type,
          "Cast it to " + c.type + ".");
    bound_.push_back({a->at, *type});
  }
  cells_.resize(columns.size());
  sets_.resize(columns.size());
  layout_ = row.layout;
}

std::string_view text_of(const CellType& type, Datum value) {
  if (type.text.has_value()) return type.text->name(value).text;
  return {backend([=] { return DatumGetCString(DirectFunctionCall1(uuid_out, value)); })};
}

}  // namespace margin::pg
