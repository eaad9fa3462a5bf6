#include "core/options/options.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <numeric>

#include "core/base/error.hpp"
#include "core/base/quoted.hpp"
#include "core/options/foreign_names.hpp"

namespace margin {

bool Options::free_intercept() const {
  return intercept && (intercept_form == InterceptForm::free ||
                       (intercept_form == InterceptForm::by_default && (loss == "quantile" || loss == "poisson")));
}

std::string describe(const Value& v) {
  if (std::holds_alternative<bool>(v.data)) return std::get<bool>(v.data) ? "true" : "false";
  if (const auto* number = std::get_if<double>(&v.data)) {
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", *number);
    char shorter[40];
    std::snprintf(shorter, sizeof shorter, "%g", *number);
    return std::strtod(shorter, nullptr) == *number ? shorter : text;
  }
  if (const auto* text = std::get_if<std::string>(&v.data)) return "\"" + *text + "\"";
  if (const auto* array = std::get_if<Value::Array>(&v.data)) return array->empty() ? "an empty array" : "an array";
  if (std::holds_alternative<Value::Object>(v.data)) return "an object";
  return "null";
}

namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::string lower_case(std::string_view name) {
  std::string out(name);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

}  // namespace

std::string name_hint(std::string_view given, const std::vector<std::string_view>& names) {
  // A name that is far longer than any of ours is none of them mistyped, and comparing it would take long.
  const std::string name = lower_case(given.substr(0, 100));
  std::string_view best;
  std::size_t distance = std::string::npos;
  std::string all;
  for (std::string_view candidate : names) {
    all += (all.empty() ? "" : ", ") + std::string(candidate);
    // The beginning of a name ("tol", "max_iter") means that name, however much is missing.
    const bool begins = name.size() > 1 && candidate.substr(0, name.size()) == name;
    const std::size_t d = begins ? 1 : edit_distance(name, candidate);
    if (d < distance) {
      distance = d;
      best = candidate;
    }
  }
  // With more than half of its letters wrong, or more than three, it is another word.
  return 2 * distance <= name.size() + 1 && distance <= 3 ? "Did you mean \"" + std::string(best) + "\"?"
                                                          : "Known are: " + all + ".";
}

Error unknown_option(const std::string& key, const std::vector<std::string_view>& names) {
  // One of ours without its plural is no name of another program.
  const bool ours = std::find(names.begin(), names.end(), key + "s") != names.end();
  std::string hint = ours ? std::string() : hint_for_foreign_option(key);
  if (hint.empty()) hint = name_hint(key, names);
  return Error(ErrorKind::invalid_option, "unknown option " + quoted(key), hint);
}

}  // namespace margin
