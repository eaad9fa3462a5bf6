// The elements of sets: of text arrays, and the lexemes of a tsvector.
#include "pg/server/interrupts.hpp"
#include "pg/values/row_columns.hpp"

extern "C" {
#include <tsearch/ts_type.h>
}

namespace margin::pg {

namespace {

/// Bytes of an element in an array, aligned to itself; -1: a varlena.
int size_of(Oid element) {
  switch (element) {
    case NAMEOID:
      return NAMEDATALEN;
    case CHAROID:
      return 1;
    case UUIDOID:
      return UUID_LEN;
    case TEXTOID:
    case VARCHAROID:
    case BPCHAROID:
      return -1;
    default:  // an enum
      return sizeof(Oid);
  }
}

Datum value_at(const char* at, int size) {
  if (size == 1) return CharGetDatum(*at);
  if (size != sizeof(Oid)) return PointerGetDatum(at);
  Oid value;
  std::memcpy(&value, at, sizeof value);
  return ObjectIdGetDatum(value);
}

const char* behind(const char* at, int size) {
  if (size >= 0) return at + size;
  const char* end = at + VARSIZE_ANY(at);
  return reinterpret_cast<const char*>(INTALIGN(reinterpret_cast<std::uintptr_t>(end)));
}

}  // namespace

Error null_element(const std::string& column) {
  return {ErrorKind::null_value, "column \"" + column + "\" has an element that is NULL, expected texts",
          "Leave it out: array_remove(" + column + ", NULL); of array_agg(x), with FILTER (WHERE x IS NOT NULL)."};
}

void for_each_element(const std::string& column, const CellType& type, Datum value,
                      const std::function<void(std::string_view)>& f) {
  const InterruptProgress session;
  auto* raw = reinterpret_cast<varlena*>(DatumGetPointer(value));
  if (VARATT_IS_EXTENDED(raw)) raw = backend([=] { return pg_detoast_datum(raw); });
  constexpr double element_work = 256;
  if (!OidIsValid(type.element)) {
    auto* lexemes = reinterpret_cast<TSVector>(raw);
    for (int i = 0; i < lexemes->size; ++i) {
      const WordEntry& word = ARRPTR(lexemes)[i];
      session.work(element_work);
      f({STRPTR(lexemes) + word.pos, word.len});
    }
    return;
  }
  auto* array = reinterpret_cast<ArrayType*>(raw);
  if (ARR_NDIM(array) > 1)
    throw Error(ErrorKind::wrong_dimensions,
                "column \"" + column + "\" has an array of " + std::to_string(ARR_NDIM(array)) +
                    " dimensions, expected a set: a one-dimensional array",
                "Give its elements in one: ARRAY(SELECT unnest(" + column + ")).");
  const int n = ARR_NDIM(array) == 0 ? 0 : ARR_DIMS(array)[0];
  const int size = size_of(type.element);
  const unsigned char* bitmap = ARR_NULLBITMAP(array);
  const char* at = ARR_DATA_PTR(array);
  for (int i = 0; i < n; ++i) {
    session.work(element_work);
    if (bitmap != nullptr && (bitmap[i / 8] & (1 << (i % 8))) == 0) throw null_element(column);
    f(text_of(type, value_at(at, size)));
    at = behind(at, size);
  }
}

}  // namespace margin::pg
