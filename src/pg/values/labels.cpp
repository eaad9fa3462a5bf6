#include "pg/values/labels.hpp"

#include "pg/values/composite.hpp"

namespace margin::pg {

namespace {

constexpr const char* accepted =
    "boolean, smallint, integer, bigint, real, double precision, numeric, text, varchar, character, name, \"char\" and "
    "enum";

/// Text in the row's memory context.
std::string_view keep(const char* text, std::size_t size) {
  char* copy = static_cast<char*>(backend([=] { return palloc(size + 1); }));
  std::memcpy(copy, text, size);
  copy[size] = '\0';
  return {copy, size};
}

std::string_view text_of(std::int64_t value) {
  char text[24];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return keep(text, static_cast<std::size_t>(end - text));
}

/// The shortest decimal that reads back as the same value; whole numbers look as they do in integer types.
template <class T>
std::string_view text_of_real(T value) {
  const double size = std::fabs(static_cast<double>(value));
  if (size < 1e15 && value == std::floor(value)) return text_of(static_cast<std::int64_t>(value));
  char text[40];
  const auto format = size >= 1e-4 && size < 1e15 ? std::chars_format::fixed : std::chars_format::scientific;
  const auto end = std::to_chars(text, text + sizeof text, value, format).ptr;
  return keep(text, static_cast<std::size_t>(end - text));
}

void require_finite(double value) {
  if (std::isfinite(value)) return;
  throw Error(ErrorKind::invalid_value, "the label is " + number_text(value) + ", expected a finite number",
              "Leave such rows out with FILTER (WHERE ...).");
}

double numeric_value(Datum value) {
  return backend([=] { return DatumGetFloat8(DirectFunctionCall1(numeric_float8, value)); });
}

/// 1.50 and 1.5 are one class.
std::string_view numeric_text(Datum value) {
  const char* text = backend([=] { return DatumGetCString(DirectFunctionCall1(numeric_out, value)); });
  std::string_view view(text);
  if (view.find('.') == std::string_view::npos) return view;
  while (view.back() == '0') view.remove_suffix(1);
  if (view.back() == '.') view.remove_suffix(1);
  return view == "-0" ? view.substr(1) : view;
}

std::string_view varlena_text(Datum value) {
  const auto* packed = reinterpret_cast<const varlena*>(DatumGetPointer(value));
  if (VARATT_IS_COMPRESSED(packed) || VARATT_IS_EXTERNAL(packed))
    packed = backend([=] { return pg_detoast_datum_packed(const_cast<varlena*>(packed)); });
  return {VARDATA_ANY(packed), VARSIZE_ANY_EXHDR(packed)};
}

LabelReader::ClassName enum_name(Datum value) {
  struct Entry {
    char label[NAMEDATALEN];
    float4 order;
    bool found;
  };
  const Entry entry = backend([=] {
    Entry e{};
    HeapTuple tuple = SearchSysCache1(ENUMOID, value);
    if (HeapTupleIsValid(tuple)) {
      auto* form = reinterpret_cast<Form_pg_enum>(GETSTRUCT(tuple));
      std::memcpy(e.label, NameStr(form->enumlabel), NAMEDATALEN);
      e.order = form->enumsortorder;
      e.found = true;
      ReleaseSysCache(tuple);
    }
    return e;
  });
  if (!entry.found) throw Error(ErrorKind::invalid_value, "the label is not a value of its enum type any more");
  return {keep(entry.label, std::strlen(entry.label)), static_cast<double>(entry.order)};
}

}  // namespace

LabelReader::LabelReader(Oid declared, const char* what)
    : type_(backend([=] { return OidIsValid(declared) ? getBaseType(declared) : declared; })) {
  switch (type_) {
    case BOOLOID:
    case INT2OID:
    case INT4OID:
    case INT8OID:
    case FLOAT4OID:
    case FLOAT8OID:
    case NUMERICOID:
    case TEXTOID:
    case VARCHAROID:
    case BPCHAROID:
    case NAMEOID:
    case CHAROID:
    case INT4RANGEOID:
    case INT8RANGEOID:
    case NUMRANGEOID:
      return;
    case UNKNOWNOID:
    case InvalidOid:
      throw Error(ErrorKind::wrong_type, "the type of the " + std::string(what) + " is not known",
                  "Cast it: write 'spam'::text, or $1::integer for a parameter.");
    default:
      break;
  }
  const Oid type = type_;
  if (backend([=] { return type_is_enum(type); })) return;
  throw Error(ErrorKind::wrong_type, "a " + std::string(what) + " cannot be of type " + type_name_of(type_),
              "Accepted are " + std::string(accepted) + "; cast other types to text.");
}

bool LabelReader::numbers() const {
  return type_ == INT2OID || type_ == INT4OID || type_ == INT8OID || type_ == FLOAT4OID || type_ == FLOAT8OID ||
         type_ == NUMERICOID;
}

LabelReader::ClassName LabelReader::name(Datum value) const {
  auto integer = [](std::int64_t v) { return ClassName{text_of(v), static_cast<double>(v)}; };
  switch (type_) {
    case BOOLOID:
      return DatumGetBool(value) ? ClassName{"true", 1} : ClassName{"false", 0};
    case INT2OID:
      return integer(DatumGetInt16(value));
    case INT4OID:
      return integer(DatumGetInt32(value));
    case INT8OID:
      return integer(DatumGetInt64(value));
    case FLOAT4OID: {
      const float v = DatumGetFloat4(value) + 0.0F;  // −0 is 0
      require_finite(v);
      return {text_of_real(v), v};
    }
    case FLOAT8OID: {
      const double v = DatumGetFloat8(value) + 0.0;
      require_finite(v);
      return {text_of_real(v), v};
    }
    case NUMERICOID: {
      const double v = numeric_value(value);
      require_finite(v);
      return {numeric_text(value), v};
    }
    case NAMEOID:
      return {NameStr(*DatumGetName(value)), 0};
    case CHAROID: {
      const char c = DatumGetChar(value);
      return {keep(&c, c == '\0' ? 0 : 1), 0};
    }
    case BPCHAROID: {  // trailing blanks mean nothing in this type
      std::string_view text = varlena_text(value);
      while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
      return {text, 0};
    }
    case TEXTOID:
    case VARCHAROID:
      return {varlena_text(value), 0};
    case INT4RANGEOID:
    case INT8RANGEOID:
    case NUMRANGEOID:
      throw Error(ErrorKind::wrong_type, "a label of type " + type_name_of(type_) + " is a target, not a class",
                  "Give loss => 'interpolate', or cast it to text for a class.");
    default:
      return enum_name(value);
  }
}

double LabelReader::number(Datum value) const {
  double v = 0;
  switch (type_) {
    case INT2OID:
      return DatumGetInt16(value);
    case INT4OID:
      return DatumGetInt32(value);
    case INT8OID:
      return static_cast<double>(DatumGetInt64(value));
    case FLOAT4OID:
      v = DatumGetFloat4(value);
      break;
    case FLOAT8OID:
      v = DatumGetFloat8(value);
      break;
    case NUMERICOID:
      v = numeric_value(value);
      break;
    default:
      throw Error(ErrorKind::wrong_type, "the label of a regression is a number, not of type " + type_name_of(type_),
                  "Accepted are smallint, integer, bigint, real, double precision and numeric; for classes choose a "
                  "classification loss such as hinge or logistic.");
  }
  require_finite(v);
  return v;
}

std::size_t LabelCache::hash(const LabelReader& reader, Datum value) {
  switch (reader.type()) {
    case NUMERICOID:
    case TEXTOID:
    case VARCHAROID:
    case BPCHAROID:
      by_value_ = false;
      raw_ = DatumGetPointer(value);
      raw_size_ = static_cast<std::uint32_t>(VARSIZE_ANY(raw_));
      // A pointer into memory does not identify its content.
      if (VARATT_IS_EXTERNAL(raw_) && !VARATT_IS_EXTERNAL_ONDISK(raw_)) raw_size_ = longest + 1;
      break;
    case NAMEOID:
      by_value_ = false;
      raw_ = DatumGetPointer(value);
      raw_size_ = static_cast<std::uint32_t>(std::strlen(NameStr(*DatumGetName(value))) + 1);
      break;
    default:
      by_value_ = FLOAT8PASSBYVAL || (reader.type() != INT8OID && reader.type() != FLOAT8OID);
      if (!by_value_) {  // the Datum is of 32 bits, and points to it
        raw_ = DatumGetPointer(value);
        raw_size_ = 8;
        break;
      }
      return (static_cast<std::uint64_t>(value) * 0x9E3779B97F4A7C15ULL) >> 58;
  }
  if (raw_size_ > longest) return 0;
  std::uint64_t h = raw_size_;
  const auto* bytes = static_cast<const unsigned char*>(raw_);
  for (std::uint32_t i = 0; i < raw_size_; ++i) h = (h ^ bytes[i]) * 0x100000001B3ULL;
  return (h * 0x9E3779B97F4A7C15ULL) >> 58;
}

bool LabelCache::Slot::matches(const LabelCache& cache, Datum d) const {
  if (index < 0) return false;
  if (cache.by_value_) return value == d;
  return size == cache.raw_size_ && std::memcmp(bytes, cache.raw_, size) == 0;
}

void LabelCache::Slot::remember(const LabelCache& cache, Datum d, std::int32_t i) {
  if (!cache.by_value_ && cache.raw_size_ > longest) return;
  index = i;
  value = d;
  size = cache.by_value_ ? 0 : cache.raw_size_;
  if (!cache.by_value_) std::memcpy(bytes, cache.raw_, size);
}

}  // namespace margin::pg
