// An integer[] of a composite value: the columns of a model of wide rows.
#include "pg/values/composite.hpp"

namespace margin::pg {

Datum integer_array(const std::vector<std::int32_t>& values) {
  std::vector<Datum> elements;
  elements.reserve(values.size());
  for (const std::int32_t v : values) elements.push_back(Int32GetDatum(v));
  Datum* at = elements.data();
  const int n = static_cast<int>(elements.size());
  return backend(
      [=] { return PointerGetDatum(construct_array(at, n, INT4OID, sizeof(std::int32_t), true, TYPALIGN_INT)); });
}

std::optional<std::vector<std::int32_t>> CompositeReader::integers(const char* name) const {
  const auto datum = get(name, INT4ARRAYOID);
  if (!datum.has_value()) return std::nullopt;
  ArrayType* array = backend([&] { return DatumGetArrayTypeP(*datum); });
  if (ARR_NDIM(array) > 1) refuse(name, "must have one dimension, not " + std::to_string(ARR_NDIM(array)));
  if (backend([=] { return array_contains_nulls(array); })) refuse(name, "contains NULL");
  const auto* at = reinterpret_cast<const std::int32_t*>(ARR_DATA_PTR(array));
  return std::vector<std::int32_t>(at, at + (ARR_NDIM(array) == 0 ? 0 : ARR_DIMS(array)[0]));
}

}  // namespace margin::pg
