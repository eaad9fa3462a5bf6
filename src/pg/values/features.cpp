#include "pg/values/features.hpp"

#include "pg/server/memory.hpp"
#include "pg/values/composite.hpp"
#include "pg/values/sparse_datum.hpp"

namespace margin::pg {

namespace {

/// The array, detoasted, checked to be one-dimensional and without NULL.
ArrayType* one_dimensional(Datum value) {
  auto* raw = reinterpret_cast<varlena*>(DatumGetPointer(value));
  if (VARATT_IS_EXTENDED(raw)) raw = backend([=] { return pg_detoast_datum(raw); });
  auto* array = reinterpret_cast<ArrayType*>(raw);
  if (ARR_NDIM(array) != 1)
    throw Error(
        ErrorKind::wrong_dimensions,
        ARR_NDIM(array) == 0
            ? std::string("expected features as a one-dimensional array, not an empty array")
            : "expected features as a one-dimensional array, not " + std::to_string(ARR_NDIM(array)) + "-dimensional",
        ARR_NDIM(array) == 0 ? "Leave such rows out with FILTER (WHERE ...), or give NULL: such rows are skipped."
                             : "");
  if (ARR_HASNULL(array)) {
    const unsigned char* bitmap = ARR_NULLBITMAP(array);
    for (int i = 0; i < ARR_DIMS(array)[0]; ++i)
      if ((bitmap[i / 8] & (1 << (i % 8))) == 0)
        throw Error(
            ErrorKind::null_value, "feature " + std::to_string(i + 1) + " is NULL, expected a number",
            "Replace missing values, for example with array_replace(features, NULL, 0), or leave such rows "
            "out: FILTER (WHERE margin_finite(features)) in an aggregate, CASE WHEN margin_finite(features) THEN "
            "... END around a function of one row.");
  }
  return array;
}

std::int32_t length(ArrayType* array) { return ARR_DIMS(array)[0]; }

template <class T>
T* scratch(std::int32_t n) {
  return static_cast<T*>(allocate_in(CurrentMemoryContext, static_cast<std::size_t>(n) * sizeof(T)));
}

/// An array of at most 126 bytes lies in its row with a header of one byte, at any address. Its numbers alone are copied,
/// which takes a third of the time that the server's function for all such values does. False: it is no such array, or
/// not a plain one.
template <class T>
bool read_short(Datum value, Row& x) {
  const void* const raw = DatumGetPointer(value);
  if (!VARATT_IS_SHORT(raw)) return false;
  constexpr std::size_t skipped = sizeof(std::int32_t);  // of an ArrayType: the header that this one has not
  const char* const body = VARDATA_SHORT(raw);
  const auto field = [&](std::size_t at) {
    std::int32_t number;
    std::memcpy(&number, body + at - skipped, sizeof number);
    return number;
  };
  if (field(offsetof(ArrayType, ndim)) != 1 || field(offsetof(ArrayType, dataoffset)) != 0) return false;
  const std::int32_t n = field(sizeof(ArrayType));
  auto* const to = scratch<T>(n);
  std::memcpy(to, body + ARR_OVERHEAD_NONULLS(1) - skipped, static_cast<std::size_t>(n) * sizeof(T));
  x = {to, nullptr, n, sizeof(T) == 8};
  return true;
}

template <class T>
Row read_floating(Datum value) {
  Row x;
  if (read_short<T>(value, x)) return x;
  ArrayType* array = one_dimensional(value);
  return {ARR_DATA_PTR(array), nullptr, length(array), sizeof(T) == 8};
}

Row read_smallint(Datum value) {
  ArrayType* array = one_dimensional(value);
  const std::int32_t n = length(array);
  const auto* from = reinterpret_cast<const std::int16_t*>(ARR_DATA_PTR(array));
  auto* to = scratch<float>(n);
  for (std::int32_t j = 0; j < n; ++j) to[j] = from[j];
  return {to, nullptr, n, false};
}

/// float where it holds every value exactly, double otherwise. A bigint beyond 2^53 has no exact double.
template <class T>
Row read_integers(Datum value) {
  constexpr T float_limit = T{1} << 24;
  ArrayType* array = one_dimensional(value);
  const std::int32_t n = length(array);
  const auto* from = reinterpret_cast<const T*>(ARR_DATA_PTR(array));
  bool small = true;
  for (std::int32_t j = 0; j < n; ++j) small &= from[j] <= float_limit && from[j] >= -float_limit;
  if (small) {
    auto* to = scratch<float>(n);
    for (std::int32_t j = 0; j < n; ++j) to[j] = static_cast<float>(from[j]);
    return {to, nullptr, n, false};
  }
  auto* to = scratch<double>(n);
  for (std::int32_t j = 0; j < n; ++j) {
    if constexpr (sizeof(T) == 8) {
      constexpr T double_limit = T{1} << 53;
      if (from[j] > double_limit || from[j] < -double_limit)
        throw Error(ErrorKind::invalid_value,
                    "feature " + std::to_string(j + 1) + " is " + std::to_string(from[j]) +
                        ", expected an integer between -2^53 and 2^53",
                    "Cast the array to double precision[] to have it rounded.");
    }
    to[j] = static_cast<double>(from[j]);
  }
  return {to, nullptr, n, true};
}

Row read_numeric(Datum value) {
  ArrayType* array = one_dimensional(value);
  const std::int32_t n = length(array);
  auto* to = scratch<double>(n);
  const char* at = ARR_DATA_PTR(array);
  backend([=] {
    const char* p = at;
    for (std::int32_t j = 0; j < n; ++j) {
      to[j] = DatumGetFloat8(DirectFunctionCall1(numeric_float8, PointerGetDatum(p)));
      p = reinterpret_cast<const char*>(
          att_align_nominal(att_addlength_pointer(reinterpret_cast<std::uintptr_t>(p), -1, p), TYPALIGN_INT));
    }
  });
  return {to, nullptr, n, true};
}

template <Row (*read)(Datum)>
FeatureRow dense(Datum value) {
  const Row x = read(value);
  return {x, x.count};
}

struct Reader {
  Oid type;
  const char* name;
  FeatureRowReader read;
};

constexpr Reader readers[] = {
    {FLOAT4ARRAYOID, "real[]", dense<read_floating<float>>},
    {FLOAT8ARRAYOID, "double precision[]", dense<read_floating<double>>},
    {INT2ARRAYOID, "smallint[]", dense<read_smallint>},
    {INT4ARRAYOID, "integer[]", dense<read_integers<std::int32_t>>},
    {INT8ARRAYOID, "bigint[]", dense<read_integers<std::int64_t>>},
    {NUMERICARRAYOID, "numeric[]", dense<read_numeric>},
};

FeatureRow refuse_row(Datum) {
  throw Error(ErrorKind::wrong_type, "features cannot be a row here",
              "Give an array: ARRAY[column, column, ...], or margin_encode((model).encoder, row).");
}

FeatureRow refuse_object(Datum) {
  throw Error(
      ErrorKind::wrong_type, "features cannot be jsonb here",
      "A model of rows with named columns scores jsonb objects; elsewhere give a row, "
      "jsonb_populate_record(NULL::table, object), or a cast to margin_sparse where keys are numbers of features.");
}

FeatureRowReader reader_of(Oid declared) {
  if (is_row(declared)) return refuse_row;
  if (is_jsonb(declared)) return refuse_object;
  const Oid type = backend([=] { return OidIsValid(declared) ? getBaseType(declared) : declared; });
  std::string accepted;
  for (const Reader& r : readers) {
    if (r.type == type) return r.read;
    accepted += (accepted.empty() ? "" : ", ") + std::string(r.name);
  }
  if (const FeatureRowReader read = extension_reader(type)) return read;
  if (type == UNKNOWNOID || !OidIsValid(type))
    throw Error(
        ErrorKind::wrong_type, "the type of the features is not known",
        "Cast them: write '{1,2}'::real[], or $1::real[] for a parameter; '{\"age\": 41}'::jsonb for a model of rows.");
  throw Error(
      ErrorKind::wrong_type, "features cannot be of type " + type_name_of(type),
      "Accepted are " + accepted +
          ", margin_sparse, and pgvector's vector, halfvec, sparsevec; build one with ARRAY[column, column, ...]. Or "
          "give a row with named columns, such as the table's own: train_margin(label, t, ...) FROM t.");
}

}  // namespace

bool is_row(Oid type) {
  return backend([=] { return OidIsValid(type) && type_is_rowtype(getBaseType(type)); });
}

FeatureRowReader array_reader(Oid type) {
  for (const Reader& r : readers)
    if (r.type == type) return r.read;
  return nullptr;
}

FeatureReader::FeatureReader(FunctionCallInfo fcinfo, int number)
    : read_(reader_of(get_fn_expr_argtype(fcinfo->flinfo, number))) {
  if (is_row(get_fn_expr_argtype(fcinfo->flinfo, number))) rows_.emplace(fcinfo->flinfo->fn_mcxt);
  of_objects_ = read_ == refuse_object;
}

void ModelRows::require_form(const Model& model, const FeatureReader& reader) {
  if (reader.named() && model.encoder != nullptr) return;
  if (reader.named())
    throw Error(ErrorKind::wrong_type,
                "the model was trained on arrays of " + std::to_string(model.dimensions) +
                    " features, and cannot be given " +
                    (reader.of_rows() ? "a row with named columns" : "a jsonb object"),
                reader.of_rows() ? "Give an array of them: ARRAY[column, column, ...]."
                                 : "Give an array, or a cast to margin_sparse where keys are numbers of features.");
  throw Error(
      ErrorKind::wrong_type, "the model was trained on rows with named columns, and cannot be given an array",
      "Give a row with these columns, such as a row of the table: margin_predict(model, t) FROM t; or a jsonb object.");
}

}  // namespace margin::pg
