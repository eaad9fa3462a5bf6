#include "pg/values/composite.hpp"

#include "core/base/write_number.hpp"
#include "core/simd/loops.hpp"

namespace margin::pg {

namespace {

/// The largest composite we try to build: the tuple itself needs some room below the limit of one allocation.
constexpr std::size_t largest_value = MaxAllocSize - 65536;

[[noreturn]] void too_large() {
  throw Error(ErrorKind::limit_exceeded, "the result would be larger than the 1 GB that one value can hold",
              "Leave out dual_weights and history, or train on fewer features or classes.");
}

Datum fixed_array(Oid element, const void* values, int dimensions, std::size_t rows, std::size_t columns) {
  const std::size_t n = dimensions == 1 ? rows : rows * columns;
  if (rows > std::size_t{INT_MAX} || columns > std::size_t{INT_MAX} || n > largest_value / 8) too_large();
  return backend([=] {
    if (n == 0) return PointerGetDatum(construct_empty_array(element));
    const std::size_t size = ARR_OVERHEAD_NONULLS(dimensions) + n * 8;
    auto* array = static_cast<ArrayType*>(palloc(size));
    std::memset(array, 0, ARR_OVERHEAD_NONULLS(dimensions));
    SET_VARSIZE(array, size);
    array->ndim = dimensions;
    array->dataoffset = 0;
    array->elemtype = element;
    ARR_DIMS(array)[0] = static_cast<int>(rows);
    ARR_LBOUND(array)[0] = 1;
    if (dimensions == 2) {
      ARR_DIMS(array)[1] = static_cast<int>(columns);
      ARR_LBOUND(array)[1] = 1;
    }
    if (values != nullptr) std::memcpy(ARR_DATA_PTR(array), values, n * 8);
    return PointerGetDatum(array);
  });
}

std::vector<Attribute> attributes_of(TupleDesc descriptor) {
  std::vector<Attribute> out;
  for (int i = 0; i < descriptor->natts; ++i) {
    const FormData_pg_attribute* attribute = TupleDescAttr(descriptor, i);
    if (!attribute->attisdropped)
      out.push_back({NameStr(attribute->attname), attribute->atttypid, attribute->atttypmod});
  }
  return out;
}

}  // namespace

std::string type_name_of(Oid type) {
  return OidIsValid(type) ? backend([=] { return format_type_be(type); }) : "unknown";
}

std::string number_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return shortest(value);
}

Datum float8_array(const double* values, std::size_t n) { return fixed_array(FLOAT8OID, values, 1, n, 1); }

Datum float8_matrix(const double* values, std::size_t rows, std::size_t columns) {
  return fixed_array(FLOAT8OID, values, 2, rows, columns);
}

Datum float8_matrix(std::size_t rows, std::size_t columns, double** to) {
  const Datum array = fixed_array(FLOAT8OID, nullptr, 2, rows, columns);
  *to = reinterpret_cast<double*>(ARR_DATA_PTR(reinterpret_cast<ArrayType*>(DatumGetPointer(array))));
  return array;
}

Datum bigint_matrix(const std::int64_t* values, std::size_t rows, std::size_t columns) {
  return fixed_array(INT8OID, values, 2, rows, columns);
}

Datum float8_array(const std::vector<std::optional<double>>& values, std::size_t columns) {
  std::vector<Datum> elements;
  std::vector<char> nulls;
  for (const auto& v : values) {
    elements.push_back(Float8GetDatum(v.value_or(0)));
    nulls.push_back(v.has_value() ? 0 : 1);
  }
  static_assert(sizeof(bool) == 1);
  Datum* at = elements.data();
  bool* missing = reinterpret_cast<bool*>(nulls.data());
  const int dimensions = columns == 0 ? 1 : 2, wide = static_cast<int>(columns);
  const int high = static_cast<int>(columns == 0 ? values.size() : values.size() / columns);
  return backend([=] {
    int sizes[] = {high, wide}, lower[] = {1, 1};
    return PointerGetDatum(construct_md_array(at, missing, dimensions, sizes, lower, FLOAT8OID, sizeof(float8),
                                              FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
  });
}

Datum text_datum(std::string_view text) {
  const char* from = text.data();
  const int size = static_cast<int>(text.size());
  return backend([=] { return PointerGetDatum(cstring_to_text_with_len(from, size)); });
}

CompositeBuilder::CompositeBuilder(FunctionCallInfo fcinfo) {
  descriptor_ = backend([=]() -> TupleDesc {
    TupleDesc descriptor = nullptr;
    Oid type = InvalidOid;
    if (get_call_result_type(fcinfo, &type, &descriptor) == TYPEFUNC_COMPOSITE) return BlessTupleDesc(descriptor);
    const Oid element = get_element_type(type);
    return OidIsValid(element) && type_is_rowtype(element) ? lookup_rowtype_tupdesc_copy(element, -1) : nullptr;
  });
  if (descriptor_ == nullptr) throw Error(ErrorKind::wrong_type, "the function must return a composite type");
  values_.assign(static_cast<std::size_t>(descriptor_->natts), 0);
  nulls_.assign(values_.size(), 1);
}

CompositeBuilder::CompositeBuilder(Oid type) {
  descriptor_ = backend([=] { return lookup_rowtype_tupdesc_copy(type, -1); });
  values_.assign(static_cast<std::size_t>(descriptor_->natts), 0);
  nulls_.assign(values_.size(), 1);
}

std::vector<Attribute> CompositeBuilder::attributes() const { return attributes_of(descriptor_); }

void CompositeBuilder::set(const char* name, Oid type, Datum value) {
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const FormData_pg_attribute* attribute = TupleDescAttr(descriptor_, static_cast<int>(i));
    if (attribute->attisdropped || std::strcmp(NameStr(attribute->attname), name) != 0) continue;
    if (attribute->atttypid != type)
      throw Error(ErrorKind::wrong_type,
                  "the attribute \"" + std::string(name) + "\" of the result is of type " +
                      type_name_of(attribute->atttypid) + ", expected " + type_name_of(type),
                  "Add attributes to a type of margin, but leave its own as they are.");
    values_[i] = value;
    nulls_[i] = 0;
    if (attribute->attlen == -1) bytes_ += VARSIZE_ANY(DatumGetPointer(value));
    return;
  }
}

Datum composite_array(const std::vector<Datum>& values) {
  std::size_t bytes = 0;
  for (const Datum value : values) bytes += VARSIZE_ANY(DatumGetPointer(value)) + MAXIMUM_ALIGNOF;
  if (bytes > largest_value) too_large();
  Datum* at = const_cast<Datum*>(values.data());
  const int n = static_cast<int>(values.size());
  return backend([=] {
    const Oid type = HeapTupleHeaderGetTypeId(composite_header(at[0]));
    return PointerGetDatum(construct_array(at, n, type, -1, false, TYPALIGN_DOUBLE));
  });
}

Datum CompositeBuilder::finish() {
  if (bytes_ > largest_value) too_large();
  TupleDesc descriptor = descriptor_;
  Datum* values = values_.data();
  bool* nulls = reinterpret_cast<bool*>(nulls_.data());
  return backend([=] { return HeapTupleGetDatum(heap_form_tuple(descriptor, values, nulls)); });
}

CompositeReader::CompositeReader(Datum composite, const char* what) : what_(what) {
  struct Parts {
    TupleDesc descriptor;
    Datum* values;
    bool* nulls;
  };
  const Parts parts = backend([=] {
    Parts p;
    HeapTupleHeader header = composite_header(composite);
    TupleDesc shared =
        lookup_rowtype_tupdesc_domain(HeapTupleHeaderGetTypeId(header), HeapTupleHeaderGetTypMod(header), false);
    p.descriptor = CreateTupleDescCopy(shared);
    ReleaseTupleDesc(shared);
    HeapTupleData tuple;
    tuple.t_len = HeapTupleHeaderGetDatumLength(header);
    ItemPointerSetInvalid(&tuple.t_self);
    tuple.t_tableOid = InvalidOid;
    tuple.t_data = header;
    const auto n = static_cast<std::size_t>(p.descriptor->natts);
    p.values = static_cast<Datum*>(palloc(n * sizeof(Datum)));
    p.nulls = static_cast<bool*>(palloc(n * sizeof(bool)));
    heap_deform_tuple(&tuple, p.descriptor, p.values, p.nulls);
    return p;
  });
  descriptor_ = parts.descriptor;
  values_ = parts.values;
  nulls_ = parts.nulls;
}

std::vector<Attribute> CompositeReader::attributes() const { return attributes_of(descriptor_); }

void CompositeReader::refuse(const char* name, const std::string& problem) const {
  throw Error(ErrorKind::malformed, "malformed " + std::string(what_) + ": field \"" + name + "\" " + problem,
              "Use models as train_margin returned them.");
}

bool CompositeReader::has(const char* name) const {
  for (int i = 0; i < descriptor_->natts; ++i) {
    const FormData_pg_attribute* attribute = TupleDescAttr(descriptor_, i);
    if (!attribute->attisdropped && std::strcmp(NameStr(attribute->attname), name) == 0) return !nulls_[i];
  }
  return false;
}

std::optional<Datum> CompositeReader::get(const char* name, Oid type) const {
  for (int i = 0; i < descriptor_->natts; ++i) {
    const FormData_pg_attribute* attribute = TupleDescAttr(descriptor_, i);
    if (attribute->attisdropped || std::strcmp(NameStr(attribute->attname), name) != 0) continue;
    if (attribute->atttypid != type) refuse(name, "has another type than expected");
    if (nulls_[i]) return std::nullopt;
    return values_[i];
  }
  return std::nullopt;
}

std::optional<double> CompositeReader::float8(const char* name) const {
  const auto datum = get(name, FLOAT8OID);
  if (!datum.has_value()) return std::nullopt;
  return DatumGetFloat8(*datum);
}

std::optional<std::int64_t> CompositeReader::int4(const char* name) const {
  const auto datum = get(name, INT4OID);
  if (!datum.has_value()) return std::nullopt;
  return DatumGetInt32(*datum);
}

std::optional<std::int64_t> CompositeReader::int8(const char* name) const {
  const auto datum = get(name, INT8OID);
  if (!datum.has_value()) return std::nullopt;
  return DatumGetInt64(*datum);
}

std::optional<std::string> CompositeReader::string(const char* name) const {
  const auto datum = get(name, TEXTOID);
  if (!datum.has_value()) return std::nullopt;
  const auto* packed = backend([&] { return DatumGetTextPP(*datum); });
  return std::string(VARDATA_ANY(packed), VARSIZE_ANY_EXHDR(packed));
}

std::optional<std::vector<std::string>> CompositeReader::strings(const char* name) const {
  const auto datum = get(name, TEXTARRAYOID);
  if (!datum.has_value()) return std::nullopt;
  const Texts texts = text_elements(*datum);
  if (texts.dimensions > 1) refuse(name, "must be one-dimensional");
  std::vector<std::string> out;
  for (const auto& text : texts.values) {
    if (!text.has_value()) refuse(name, "contains NULL");
    out.push_back(*text);
  }
  return out;
}

std::optional<Matrix> CompositeReader::numbers(const char* name, bool infinite) const {
  const auto datum = get(name, FLOAT8ARRAYOID);
  if (!datum.has_value()) return std::nullopt;
  ArrayType* array = backend([&] { return DatumGetArrayTypeP(*datum); });
  if (ARR_NDIM(array) > 2) refuse(name, "must have one or two dimensions, not " + std::to_string(ARR_NDIM(array)));
  Matrix out;
  if (ARR_NDIM(array) == 0) return out;
  if (backend([=] { return array_contains_nulls(array); })) refuse(name, "contains NULL");
  out.rows = static_cast<std::size_t>(ARR_DIMS(array)[0]);
  out.columns = ARR_NDIM(array) == 2 ? static_cast<std::size_t>(ARR_DIMS(array)[1]) : 0;
  const auto* at = reinterpret_cast<const double*>(ARR_DATA_PTR(array));
  out.values.assign(at, at + out.rows * (ARR_NDIM(array) == 2 ? out.columns : 1));
  if (simd().finite_d(out.values.data(), out.values.size())) return out;
  for (const double v : out.values)
    if (infinite ? std::isnan(v) : !std::isfinite(v))
      refuse(name, infinite ? "contains NaN" : "contains a number that is not finite");
  return out;
}

}  // namespace margin::pg
