// Reading the parts of an encoder from values of unknown origin.
#pragma once

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"
#include "core/encoder/pair.hpp"
#include "core/options/options.hpp"

/// `where` names the part for messages: ` of column "age"`. Each throws Error(malformed) naming what is wrong.
namespace margin::encoder_parts {

[[noreturn]] inline void refuse(const std::string& problem) {
  throw Error(ErrorKind::malformed, "malformed margin_model: field \"encoder\" " + problem,
              "Use models as train_margin returned them.");
}

inline const Value& field(const Value::Object& object, const char* name, const std::string& where) {
  const auto found = object.find(name);
  if (found == object.end()) refuse("has no \"" + std::string(name) + "\"" + where);
  return found->second;
}

inline std::string text(const Value::Object& object, const char* name, const std::string& where) {
  const auto* value = std::get_if<std::string>(&field(object, name, where).data);
  if (value == nullptr) refuse("has a \"" + std::string(name) + "\"" + where + " that is not a string");
  return *value;
}

inline bool flag(const Value::Object& object, const char* name, const std::string& where) {
  const auto* value = std::get_if<bool>(&field(object, name, where).data);
  if (value == nullptr) refuse("has a \"" + std::string(name) + "\"" + where + " that is not true or false");
  return *value;
}

inline const Value::Array& list(const Value::Object& object, const char* name, const std::string& where) {
  const auto* value = std::get_if<Value::Array>(&field(object, name, where).data);
  if (value == nullptr) refuse("has a \"" + std::string(name) + "\"" + where + " that is not an array");
  return *value;
}

inline std::vector<double> numbers(const Value::Object& object, const char* name, const std::string& where) {
  std::vector<double> out;
  for (const Value& item : list(object, name, where)) {
    const double* number = std::get_if<double>(&item.data);
    if (number == nullptr || !std::isfinite(*number))
      refuse("has a \"" + std::string(name) + "\"" + where + " with something that is not a finite number");
    out.push_back(*number);
  }
  return out;
}

inline Value values(const std::vector<double>& numbers) {
  Value::Array out;
  out.reserve(numbers.size());
  for (const double v : numbers) out.emplace_back().data = v + 0.0;  // −0 is 0: jsonb has no other
  Value value;
  value.data = std::move(out);
  return value;
}

inline void require_keys(const Value::Object& object, std::initializer_list<std::string_view> known,
                         const std::string& where) {
  for (const auto& entry : object)
    if (std::find(known.begin(), known.end(), entry.first) == known.end())
      refuse("has the unknown part \"" + entry.first + "\"" + where);
}

inline void read_categories(Column& c, const Value::Object& object, const std::string& where) {
  for (const Value& item : list(object, "categories", where)) {
    const auto* name = std::get_if<std::string>(&item.data);
    if (name == nullptr) refuse("has a category" + where + " that is not a string");
    if (!c.categories.empty() && !(c.categories.back() < *name))
      refuse("has categories" + where + " that do not ascend");
    c.categories.push_back(*name);
  }
}

inline void require_ascending(const std::vector<double>& thresholds, const std::string& where) {
  for (std::size_t k = 1; k < thresholds.size(); ++k)
    if (!(thresholds[k - 1] < thresholds[k])) refuse("has \"thresholds\"" + where + " that do not ascend");
}

/// The pairs of an encoder with these columns, as its field `pairs` has them, and back.
std::vector<PairTerm> pairs_from(const Value::Object& object, const std::vector<Column>& columns);
Value pairs_value(const std::vector<PairTerm>& pairs);

}  // namespace margin::encoder_parts
