// The option `fairness`, as users give it and as a model keeps it (problem/fairness.hpp).
#include <algorithm>
#include <cmath>

#include "core/options/setters.hpp"

namespace margin {

namespace {

constexpr std::size_t most_parities = 1000;
constexpr const char* fairness_expected =
    "an object {\"column\": name or number, \"measure\": \"score_parity\" or \"true_positive_parity\", \"bound\": "
    "number}, or an "
    "array of them";

double finite(std::string_view key, const Value& v) {
  return number(key, v, "finite numbers", [](double) { return true; });
}

void set_field(Fairness& out, std::string_view key, const std::string& field, const Value& value) {
  if (field == "column") {
    const double* const feature = std::get_if<double>(&value.data);
    if (feature == nullptr) {
      out.column = text(key, value);
      return;
    }
    number(key, value, fairness_expected, [](double x) { return x >= 1 && x <= 2147483647.0 && x == std::floor(x); });
    out.column = std::to_string(static_cast<std::int64_t>(*feature));
  } else if (field == "measure") {
    const std::string name = text(key, value);
    if (name != "score_parity" && name != "true_positive_parity") refuse(key, value, fairness_expected);
    out.measure = name == "score_parity" ? Parity::score : Parity::true_positive;
  } else if (field == "bound") {
    out.bound = number(key, value, "bounds of 0, or from 1e-100 to 1e100",
                       [](double b) { return b == 0 || (b >= 1e-100 && b <= 1e100); });
  } else if (field == "group") {
    out.group = text(key, value);
  } else if (field == "shift") {
    out.shift = finite(key, value);
  } else if (field == "weights") {
    const auto* weights = std::get_if<Value::Object>(&value.data);
    if (weights == nullptr) refuse(key, value, fairness_expected);
    for (const auto& [feature, weight] : *weights) out.weights[feature] = finite(key, weight);
  } else {
    throw Error(ErrorKind::invalid_option, "option \"" + std::string(key) + "\" has an unknown field \"" + field + "\"",
                "It has column, measure, bound and group.");
  }
}

Fairness fairness_from(std::string_view key, const Value& v) {
  const auto* object = std::get_if<Value::Object>(&v.data);
  if (object == nullptr) refuse(key, v, fairness_expected);
  Fairness out;
  for (const auto& [field, value] : *object) set_field(out, key, field, value);
  for (const char* const field : {"column", "bound"})
    if (object->find(field) == object->end())
      throw Error(ErrorKind::invalid_option, "option \"" + std::string(key) + "\" has no " + field,
                  "Give a column whose values are the groups, and by how much their mean scores may differ.");
  return out;
}

}  // namespace

void set_fairness(Options& s, std::string_view key, const Value& v) {
  s.fairness.clear();
  if (std::holds_alternative<Value::Object>(v.data)) {
    s.fairness.push_back(fairness_from(key, v));
    return;
  }
  const auto* array = std::get_if<Value::Array>(&v.data);
  if (array == nullptr || array->empty()) refuse(key, v, fairness_expected);
  if (array->size() > most_parities)
    throw Error(ErrorKind::limit_exceeded, "option \"" + std::string(key) + "\" has " + std::to_string(array->size()) +
                                               " objects, expected at most " + std::to_string(most_parities));
  for (const Value& one : *array) s.fairness.push_back(fairness_from(key, one));
  for (auto f = s.fairness.begin(); f != s.fairness.end(); ++f)
    if (std::any_of(s.fairness.begin(), f, [&](const Fairness& other) {
          return other.column == f->column && other.measure == f->measure &&
                 (other.group == f->group || other.group.empty() || f->group.empty());
        }))
      throw Error(ErrorKind::invalid_option,
                  "option \"" + std::string(key) + "\" says a bound of \"" + f->column + "\" twice",
                  "Give one for each column and measure, or one for each group.");
}

}  // namespace margin
