// margin_sparse from pairs, arrays and jsonb, and back.
#include <cstring>

#include "pg/server/interrupts.hpp"
#include "pg/values/composite.hpp"
#include "pg/values/features.hpp"
#include "pg/values/jsonb.hpp"
#include "pg/values/sparse_datum.hpp"

namespace margin::pg {
namespace {

/// The elements of an array of fixed-width numbers without NULL; empty for an empty array.
template <class T>
std::pair<const T*, std::size_t> elements(Datum value, const char* what) {
  ArrayType* array = backend([=] { return DatumGetArrayTypeP(value); });
  if (ARR_NDIM(array) > 1)
    throw Error(ErrorKind::wrong_dimensions, std::string(what) + " must be a one-dimensional array");
  if (backend([=] { return array_contains_nulls(array); }))
    throw Error(ErrorKind::null_value, std::string(what) + " contain NULL, expected numbers");
  return {reinterpret_cast<const T*>(ARR_DATA_PTR(array)),
          ARR_NDIM(array) == 0 ? 0 : static_cast<std::size_t>(ARR_DIMS(array)[0])};
}

template <class T>
Datum from_array(FunctionCallInfo fcinfo) {
  const auto [values, n] = elements<T>(PG_GETARG_DATUM(0), "the features");
  if (n == 0)
    throw Error(ErrorKind::wrong_dimensions, "expected features as a one-dimensional array, not an empty array");
  return sparse_datum(sparse_of_dense(values, static_cast<std::int32_t>(n)));
}

/// As long as the dimensions, or as the largest index where they are not stated.
template <class T>
Datum to_array(FunctionCallInfo fcinfo, Oid element) {
  const FeatureRow x = sparse_from(PG_GETARG_DATUM(0));
  const std::int32_t n = std::max(x.dimensions, reach(x));
  // In 64 bits, whatever the size of a pointer: 2^31 − 1 numbers have more bytes than 32 bits count.
  const std::uint64_t bytes = ARR_OVERHEAD_NONULLS(1) + static_cast<std::uint64_t>(n) * sizeof(T);
  if (bytes > MaxAllocSize)
    throw Error(ErrorKind::limit_exceeded, "an array of " + std::to_string(n) + " elements would be larger than 1 GB",
                "Train and predict with margin_sparse as it is.");
  const auto size = static_cast<std::size_t>(bytes);
  if (n == 0) return backend([=] { return PointerGetDatum(construct_empty_array(element)); });
  auto* array = backend([=] { return static_cast<ArrayType*>(palloc(size)); });
  // A gigabyte of zeros takes the better part of a second, which a cancelled query does not wait for.
  InterruptProgress progress;
  constexpr std::size_t piece = std::size_t{1} << 24;
  for (std::size_t at = 0; at < size; at += piece) {
    progress.poll();
    std::memset(reinterpret_cast<char*>(array) + at, 0, std::min(piece, size - at));
  }
  SET_VARSIZE(array, size);
  array->ndim = 1;
  array->elemtype = element;
  ARR_DIMS(array)[0] = n;
  ARR_LBOUND(array)[0] = 1;
  auto* to = reinterpret_cast<T*>(ARR_DATA_PTR(array));
  for (std::int32_t k = 0; k < x.count; ++k) {
    const double value = x.value(k);
    if (std::fabs(value) > static_cast<double>(std::numeric_limits<T>::max()))
      throw Error(ErrorKind::invalid_value,
                  "value " + number_text(value) + " at index " + std::to_string(x.indices[k] + 1) +
                      " is out of the range of real",
                  "Cast to double precision[].");
    to[x.indices[k]] = static_cast<T>(value);
  }
  return PointerGetDatum(array);
}

}  // namespace
}  // namespace margin::pg

using namespace margin::pg;

// Not strict: dimensions may be NULL.
MARGIN_FUNCTION(margin_sparse) {
  if (PG_ARGISNULL(0) || PG_ARGISNULL(1)) PG_RETURN_NULL();
  const auto [indices, n] = elements<std::int32_t>(PG_GETARG_DATUM(0), "the indices");
  const auto [values, m] = elements<double>(PG_GETARG_DATUM(1), "the values");
  if (n != m)
    throw margin::Error(margin::ErrorKind::wrong_dimensions,
                        std::to_string(n) + " indices, but " + std::to_string(m) + " values");
  const std::int32_t dimensions = PG_ARGISNULL(2) ? 0 : PG_GETARG_INT32(2);
  if (!PG_ARGISNULL(2) && dimensions < 1)
    throw margin::Error(margin::ErrorKind::invalid_value,
                        "dimensions is " + std::to_string(dimensions) + ", expected 1 or more",
                        "Leave it out, or give NULL, for as far as the indices go.");
  InterruptProgress session;
  return sparse_datum(margin::make_sparse(indices, values, n, dimensions, session));
}

MARGIN_FUNCTION(margin_sparse_from_real) { return from_array<float>(fcinfo); }
MARGIN_FUNCTION(margin_sparse_from_double) { return from_array<double>(fcinfo); }
MARGIN_FUNCTION(margin_sparse_to_real) { return to_array<float>(fcinfo, FLOAT4OID); }
MARGIN_FUNCTION(margin_sparse_to_double) { return to_array<double>(fcinfo, FLOAT8OID); }

MARGIN_FUNCTION(margin_sparse_from_jsonb) { return sparse_datum(sparse_of(value_from(PG_GETARG_DATUM(0)))); }

MARGIN_FUNCTION(margin_sparse_to_jsonb) {
  const margin::FeatureRow x = sparse_from(PG_GETARG_DATUM(0));
  margin::Value::Object object;
  for (std::int32_t k = 0; k < x.count; ++k) object[std::to_string(x.indices[k] + 1)].data = x.value(k);
  return jsonb_from(object);
}
