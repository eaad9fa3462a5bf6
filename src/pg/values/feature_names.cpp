#include "pg/values/feature_names.hpp"

#include "core/base/error.hpp"
#include "pg/server/boundary.hpp"
#include "pg/values/composite.hpp"

namespace margin::pg {

std::string text_from(Datum datum) {
  const auto* packed = backend([=] { return DatumGetTextPP(datum); });
  return {VARDATA_ANY(packed), static_cast<std::size_t>(VARSIZE_ANY_EXHDR(packed))};
}

std::vector<std::string> feature_names(Datum array) {
  const Texts texts = text_elements(array);
  if (texts.dimensions > 1) throw Error(ErrorKind::wrong_dimensions, "feature_names must be a one-dimensional array");
  std::vector<std::string> names;
  for (const auto& text : texts.values) {
    if (!text.has_value())
      throw Error(ErrorKind::null_value, "the name of feature " + std::to_string(names.size() + 1) + " is NULL");
    names.push_back(*text);
  }
  if (names.empty())
    throw Error(ErrorKind::wrong_dimensions, "feature_names is empty",
                "Give one name for each feature, or leave the argument out.");
  return names;
}

}  // namespace margin::pg
