// A text[], and what arrays of values of variable length hold.
#include "pg/values/composite.hpp"

namespace margin::pg {

Datum text_array(const std::vector<std::string>& values) {
  std::vector<Datum> elements;
  for (const std::string& v : values) elements.push_back(text_datum(v));
  Datum* at = elements.data();
  const int n = static_cast<int>(elements.size());
  return backend([=] { return PointerGetDatum(construct_array(at, n, TEXTOID, -1, false, TYPALIGN_INT)); });
}

std::vector<std::optional<Datum>> array_elements(Datum datum, const char* what) {
  struct Parts {
    int count, dimensions;
    Datum* values;
    bool* nulls;
  };
  const Parts parts = backend([=] {
    Parts p{};
    ArrayType* array = DatumGetArrayTypeP(datum);
    p.dimensions = ARR_NDIM(array);
    int16 length = 0;
    bool by_value = false;
    char alignment = 0;
    get_typlenbyvalalign(ARR_ELEMTYPE(array), &length, &by_value, &alignment);
    deconstruct_array(array, ARR_ELEMTYPE(array), length, by_value, alignment, &p.values, &p.nulls, &p.count);
    return p;
  });
  if (parts.dimensions > 1)
    throw Error(ErrorKind::malformed, std::string("an array of ") + what + " must have one dimension, not " +
                                          std::to_string(parts.dimensions));
  std::vector<std::optional<Datum>> out;
  for (int k = 0; k < parts.count; ++k)
    out.push_back(parts.nulls[k] ? std::nullopt : std::optional<Datum>(parts.values[k]));
  return out;
}

Texts text_elements(Datum datum) {
  struct Elements {
    Datum* values;
    bool* nulls;
    int n, dimensions;
  };
  const Elements e = backend([=] {
    Elements out;
    ArrayType* array = DatumGetArrayTypeP(datum);
    out.dimensions = ARR_NDIM(array);
    deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &out.values, &out.nulls, &out.n);
    return out;
  });
  Texts out;
  out.dimensions = e.dimensions;
  for (int i = 0; i < e.n; ++i) {
    const void* element = DatumGetPointer(e.values[i]);
    out.values.push_back(e.nulls[i]
                             ? std::nullopt
                             : std::optional<std::string>(std::in_place, static_cast<const char*>(VARDATA_ANY(element)),
                                                          static_cast<std::size_t>(VARSIZE_ANY_EXHDR(element))));
  }
  return out;
}

}  // namespace margin::pg
