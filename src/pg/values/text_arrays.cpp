// A text[], and what one holds.
#include "pg/values/composite.hpp"

namespace margin::pg {

Datum text_array(const std::vector<std::string>& values) {
  std::vector<Datum> elements;
  for (const std::string& v : values) elements.push_back(text_datum(v));
  Datum* at = elements.data();
  const int n = static_cast<int>(elements.size());
  return backend([=] { return PointerGetDatum(construct_array(at, n, TEXTOID, -1, false, TYPALIGN_INT)); });
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
