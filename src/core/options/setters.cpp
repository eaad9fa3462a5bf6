#include "core/options/setters.hpp"

#include <cmath>
#include <variant>

namespace margin {

void refuse(std::string_view key, const Value& found, const std::string& expected) {
  throw Error(ErrorKind::invalid_option,
              "option \"" + std::string(key) + "\" must be " + expected + ", not " + describe(found));
}

double number(std::string_view key, const Value& v, const std::string& expected, bool (*valid)(double)) {
  const double* x = std::get_if<double>(&v.data);
  if (x == nullptr || !std::isfinite(*x) || !valid(*x)) refuse(key, v, expected);
  return *x;
}

bool boolean(std::string_view key, const Value& v, const char* expected) {
  const bool* x = std::get_if<bool>(&v.data);
  if (x == nullptr) refuse(key, v, expected);
  return *x;
}

std::string text(std::string_view key, const Value& v) {
  const auto* x = std::get_if<std::string>(&v.data);
  if (x == nullptr || x->empty()) refuse(key, v, "a name");
  return *x;
}

/// A finite number, as margin_to_json writes it: −0 as a text.
double cell_number(std::string_view key, const Value& v) {
  const auto* name = std::get_if<std::string>(&v.data);
  return name != nullptr && *name == "-0" ? -0.0
                                          : number(key, v, "an array of finite numbers", [](double) { return true; });
}

/// Of an array of numbers, or of one array of them for each output.
std::vector<double> numbers(std::string_view key, const Value& v) {
  std::vector<double> out;
  if (std::holds_alternative<std::monostate>(v.data)) return out;
  const auto* array = std::get_if<Value::Array>(&v.data);
  if (array == nullptr) refuse(key, v, "an array of finite numbers");
  for (const Value& item : *array) {
    if (const auto* row = std::get_if<Value::Array>(&item.data))
      for (const Value& cell : *row) out.push_back(cell_number(key, cell));
    else
      out.push_back(cell_number(key, item));
  }
  return out;
}

namespace {

std::vector<std::string> columns_from(std::string_view key, const Value& v) {
  static const char* const expected = "an array of names of columns";
  const auto* array = std::get_if<Value::Array>(&v.data);
  const auto* one = std::get_if<std::string>(&v.data);
  if (array == nullptr && one == nullptr) refuse(key, v, expected);
  std::vector<std::string> out;
  if (one != nullptr) out.push_back(*one);
  for (const Value& item : array != nullptr ? *array : Value::Array{}) {
    const auto* name = std::get_if<std::string>(&item.data);
    if (name == nullptr) refuse(key, v, expected);
    out.push_back(*name);
  }
  return out;
}

}  // namespace

void set_exclude(Options& s, std::string_view key, const Value& v) { s.exclude = columns_from(key, v); }

void set_include(Options& s, std::string_view key, const Value& v) {
  s.include = columns_from(key, v);
  if (s.include.empty()) refuse(key, v, "an array of names of columns");
}

void set_interactions(Options& s, std::string_view key, const Value& v) {
  static const char* const expected =
      "names of two columns such as '{age*income}', a number of pairs from 1 to 1000, or 'auto'";
  const auto* const one = std::get_if<std::string>(&v.data);
  const auto* const array = std::get_if<Value::Array>(&v.data);
  const auto* const count = std::get_if<double>(&v.data);
  s.interactions = {};
  if (count != nullptr) {
    s.interactions.screened = static_cast<std::int32_t>(
        number(key, v, expected, [](double n) { return n >= 1 && n <= 1000 && n == std::floor(n); }));
    return;
  }
  if (one != nullptr && *one == "auto") {
    s.interactions.chosen = true;
    return;
  }
  if (one != nullptr) s.interactions.named.push_back(*one);
  if (one == nullptr && (array == nullptr || array->empty())) refuse(key, v, expected);
  for (const Value& item : array != nullptr ? *array : Value::Array{}) {
    const auto* name = std::get_if<std::string>(&item.data);
    if (name == nullptr) refuse(key, item, expected);
    s.interactions.named.push_back(*name);
  }
}

namespace {

constexpr const char* bins_expected =
    "a whole number from 2 to 1024, true (64) or false, or an object of column: one of these, \"*\" for all others";

std::int32_t bins_from(std::string_view key, const Value& v) {
  const auto* const flag = std::get_if<bool>(&v.data);
  const auto* const word = std::get_if<std::string>(&v.data);  // the literal true of an argument of any type is text
  const auto is = [&](bool which, const char* name) {
    return (flag != nullptr && *flag == which) || (word != nullptr && *word == name);
  };
  if (is(false, "false")) return 0;
  if (is(true, "true")) return 64;
  return static_cast<std::int32_t>(
      number(key, v, bins_expected, [](double n) { return n >= 2 && n <= 1024 && n == std::floor(n); }));
}

}  // namespace

void set_bins(Options& s, std::string_view key, const Value& v) {
  s.bins = {};
  const auto* const object = std::get_if<Value::Object>(&v.data);
  if (object == nullptr) {
    s.bins.others = bins_from(key, v);
    return;
  }
  if (object->empty()) refuse(key, v, bins_expected);
  for (const auto& [column, item] : *object)
    (column == "*" ? s.bins.others : s.bins.named[column]) = bins_from(key, item);
}

void set_reference(Options& s, std::string_view key, const Value& v) {
  static const char* const expected = "an object of column: category";
  const auto* object = std::get_if<Value::Object>(&v.data);
  if (object == nullptr) refuse(key, v, expected);
  for (const auto& [column, item] : *object) {
    const auto* category = std::get_if<std::string>(&item.data);
    if (category == nullptr) refuse(key, item, expected);
    s.reference[column] = *category;
  }
}

void set_class_weight(Options& s, std::string_view key, const Value& v) {
  static const char* const expected = "'balanced' or an object of label: weight with weights of 0 or more";
  if (const auto* name = std::get_if<std::string>(&v.data)) {
    if (*name != "balanced") refuse(key, v, expected);
    s.class_weight_balanced = true;
    return;
  }
  const auto* object = std::get_if<Value::Object>(&v.data);
  if (object == nullptr) refuse(key, v, expected);
  for (const auto& [label, weight] : *object)
    s.class_weight[label] = number(key, weight, expected, [](double x) { return x >= 0; });
}

void set_intercept(Options& s, std::string_view key, const Value& v) {
  const auto* const name = std::get_if<std::string>(&v.data);
  const auto is = [&](const char* word) { return name != nullptr && *name == word; };
  // The literal true of an argument of any type is text.
  s.intercept = is("free") || is("penalized") || is("true") ||
                (!is("false") && boolean(key, v, "true, false, 'free' or 'penalized'"));
  s.intercept_form = is("free")        ? InterceptForm::free
                     : is("penalized") ? InterceptForm::penalized
                                       : InterceptForm::by_default;
}

namespace {

bool absent(const Value& v) { return std::holds_alternative<std::monostate>(v.data); }

/// Features from 1, ascending, as core counts them.
std::vector<std::int32_t> initial_columns(std::string_view key, const Value& v) {
  std::vector<std::int32_t> columns;
  for (const double feature : numbers(key, v)) {
    if (!(feature >= 1 && feature <= 2147483647.0) || feature != std::floor(feature) ||
        (!columns.empty() && feature <= columns.back() + 1.0))
      refuse(key, v, "a model whose columns are ascending features from 1");
    columns.push_back(static_cast<std::int32_t>(feature) - 1);
  }
  return columns;
}

}  // namespace

void set_initial(Options& s, std::string_view key, const Value& v) {
  const auto* object = std::get_if<Value::Object>(&v.data);
  if (object == nullptr) refuse(key, v, "a model (an object with weights and intercept)");
  InitialModel model;
  for (const auto& [field, item] : *object) {
    if (field == "weights") model.weights = numbers(key, item);
    if (field == "intercept") model.intercept = numbers(key, item);
    if (field == "dual_weights") model.dual_weights = numbers(key, item);
    if (field == "encoder") model.encoder = item;
    if (field == "columns" && !absent(item)) model.columns = initial_columns(key, item);
    if (field == "dimensions" && !absent(item))
      model.dimensions =
          static_cast<std::int32_t>(number(key, item, "a model of 1 to 2147483647 features",
                                           [](double d) { return d >= 1 && d <= 2147483647.0 && d == std::floor(d); }));
    if ((field == "stumps" || field == "kernel") && !absent(item)) refuse(key, v, "a model with weights of features");
  }
  if (model.weights.empty()) refuse(key, v, "a model with weights");
  s.initial = std::move(model);
}

void set_loss(Options& s, std::string_view key, const Value& v) {
  s.loss = text(key, v);
  if (s.loss == "one_class")
    throw Error(ErrorKind::invalid_option, "loss \"one_class\" is that of rows without labels",
                "Train with train_one_class(features, options), and leave loss out.");
}

void set_norm(Options& s, std::string_view key, const Value& v) {
  const auto* name = std::get_if<std::string>(&v.data);
  s.sparse_norm = name != nullptr && *name == "sparse";
  if (!s.sparse_norm)
    s.norm = number(key, v, "a number from 1 to 2, or 'sparse'", [](double x) { return x >= 1 && x <= 2; });
}

void set_l1_ratio(Options& s, std::string_view key, const Value& v) {
  s.l1_ratio = number(key, v, "a number from 0 to 1", [](double x) { return x >= 0 && x <= 1; });
  // Options are set in the order of their names. The l1 norm leaves intercepts alone.
  if (s.l1_ratio == 1 && s.intercept && s.intercept_form == InterceptForm::by_default)
    s.intercept_form = InterceptForm::free;
}

void set_penalty_factor(Options& s, std::string_view key, const Value& v) {
  static const char* const expected = "an array of factors, one per feature, or an object of feature or column: factor";
  static const char* const range = "factors from 1e-100 to 1e100";
  const auto valid = [](double x) { return x >= 1e-100 && x <= 1e100; };
  if (const auto* array = std::get_if<Value::Array>(&v.data)) {
    if (array->empty()) refuse(key, v, expected);
    for (const Value& item : *array) s.penalty_factor.push_back(number(key, item, range, valid));
    return;
  }
  const auto* object = std::get_if<Value::Object>(&v.data);
  if (object == nullptr) refuse(key, v, expected);
  for (const auto& [feature, factor] : *object) s.named_penalty_factor[feature] = number(key, factor, range, valid);
}

namespace {

constexpr const char* bounds_expected =
    "an array [least, most] of all weights, an array of one such pair per feature, or an object of feature or column: "
    "[least, most], null where there is no end";

/// A number or null, which is no end.
bool is_end(const Value& v) {
  return std::holds_alternative<std::monostate>(v.data) || std::holds_alternative<double>(v.data);
}

/// What was given for a pair, as it was written.
std::string pair_text(const Value& v) {
  const auto* array = std::get_if<Value::Array>(&v.data);
  if (array == nullptr || array->size() > 4) return describe(v);
  std::string out = "[";
  for (const Value& item : *array) out += (out.size() > 1 ? ", " : "") + describe(item);
  return out + "]";
}

/// `of`: the feature or column that it is said of; empty: of all.
WeightRange range_from(std::string_view key, const Value& v, const std::string& of = {}) {
  const auto wrong = [&](const char* expected) {
    throw Error(ErrorKind::invalid_option, "option \"" + std::string(key) + "\" must be " + expected + ", not " +
                                               pair_text(v) + (of.empty() ? "" : " for \"" + of + "\""));
  };
  const auto* pair = std::get_if<Value::Array>(&v.data);
  if (pair == nullptr || pair->size() != 2) wrong(bounds_expected);
  WeightRange range;
  for (std::size_t k = 0; k < 2; ++k) {
    const Value& end = (*pair)[k];
    if (!is_end(end)) wrong(bounds_expected);
    if (std::holds_alternative<std::monostate>(end.data)) continue;
    (k == 0 ? range.lower : range.upper) = number(key, end, "bounds of size 0 or from 1e-100 to 1e100", [](double x) {
      return x == 0 || (std::fabs(x) >= 1e-100 && std::fabs(x) <= 1e100);
    });
  }
  if (!(range.lower <= range.upper)) wrong("pairs of which the first is no larger than the second");
  return range;
}

}  // namespace

void set_bounds(Options& s, std::string_view key, const Value& v) {
  if (const auto* array = std::get_if<Value::Array>(&v.data)) {
    if (array->empty()) refuse(key, v, bounds_expected);
    if (array->size() == 2 && is_end((*array)[0]) && is_end((*array)[1])) {
      s.named_bounds["*"] = range_from(key, v);
      return;
    }
    for (const Value& item : *array) s.bounds.push_back(range_from(key, item));
    return;
  }
  const auto* object = std::get_if<Value::Object>(&v.data);
  if (object == nullptr || object->empty()) refuse(key, v, bounds_expected);
  for (const auto& [feature, range] : *object) s.named_bounds[feature] = range_from(key, range, feature);
}

namespace {

constexpr std::size_t most_constraints = 1000;
constexpr const char* constraints_expected =
    "an array of objects {\"weights\": {feature or column: coefficient}, \"min\", \"max\" or \"equal\": number, "
    "\"name\": text}";

NamedConstraint constraint_from(std::string_view key, const Value& v, std::size_t position) {
  const auto* object = std::get_if<Value::Object>(&v.data);
  if (object == nullptr) refuse(key, v, constraints_expected);
  NamedConstraint out;
  out.name = "constraint " + std::to_string(position + 1);
  const auto end = [&](const Value& x) {
    return number(key, x, "ends of size 0 or from 1e-100 to 1e100",
                  [](double e) { return e == 0 || (std::fabs(e) >= 1e-100 && std::fabs(e) <= 1e100); });
  };
  bool equal = false, range = false;
  for (const auto& [field, value] : *object) {
    if (field == "name") {
      out.name = text(key, value);
    } else if (field == "weights") {
      const auto* weights = std::get_if<Value::Object>(&value.data);
      if (weights == nullptr || weights->empty()) refuse(key, value, constraints_expected);
      for (const auto& [feature, coefficient] : *weights)
        out.weights[feature] = number(key, coefficient, "coefficients of size 1e-100 to 1e100",
                                      [](double c) { return std::fabs(c) >= 1e-100 && std::fabs(c) <= 1e100; });
    } else if (field == "equal") {
      out.lower = out.upper = end(value);
      equal = true;
    } else if (field == "min" || field == "max") {
      (field == "min" ? out.lower : out.upper) = end(value);
      range = true;
    } else {
      throw Error(ErrorKind::invalid_option,
                  "option \"" + std::string(key) + "\" has an unknown field \"" + field + "\"",
                  "A constraint has weights, min, max or equal, and a name.");
    }
  }
  if (out.weights.empty() || equal == range)
    throw Error(ErrorKind::invalid_option,
                "option \"" + std::string(key) + "\": \"" + out.name + "\" " +
                    (out.weights.empty() ? "has no weights"
                     : equal             ? "has an end beside equal"
                                         : "has no end"),
                "A constraint has weights, and min, max or both, or equal alone.");
  if (!(out.lower <= out.upper))
    throw Error(ErrorKind::invalid_option,
                "option \"" + std::string(key) + "\": \"" + out.name + "\" has a min above its max");
  return out;
}

}  // namespace

void set_constraints(Options& s, std::string_view key, const Value& v) {
  const auto* array = std::get_if<Value::Array>(&v.data);
  if (array == nullptr && std::holds_alternative<Value::Object>(v.data)) {
    s.constraints = {constraint_from(key, v, 0)};
    return;
  }
  if (array == nullptr || array->empty()) refuse(key, v, constraints_expected);
  if (array->size() > most_constraints)
    throw Error(ErrorKind::limit_exceeded, "option \"" + std::string(key) + "\" has " + std::to_string(array->size()) +
                                               " constraints, expected at most " + std::to_string(most_constraints));
  for (const Value& one : *array) s.constraints.push_back(constraint_from(key, one, s.constraints.size()));
}

void set_monotone(Options& s, std::string_view key, const Value& v) {
  static const char* const expected =
      "an object of feature or column: 1 where the score may only rise with it, -1 where it may only fall";
  const auto* object = std::get_if<Value::Object>(&v.data);
  if (object == nullptr || object->empty()) refuse(key, v, expected);
  for (const auto& [feature, sign] : *object)
    s.monotone[feature] = number(key, sign, expected, [](double x) { return x == 1 || x == -1; }) > 0;
}

void set_offset(Options& s, std::string_view key, const Value& v) {
  static const char* const expected = "the number of a feature from 1, or the name of a column";
  if (const auto* name = std::get_if<std::string>(&v.data)) {
    if (name->empty()) refuse(key, v, expected);
    s.offset = *name;
    return;
  }
  const double feature =
      number(key, v, expected, [](double x) { return x >= 1 && x <= 2147483647.0 && x == std::floor(x); });
  s.offset = std::to_string(static_cast<std::int64_t>(feature));
}

void set_gamma(Options& s, std::string_view key, const Value& v) {
  static const char* const expected = "a positive number, 'scale' or 'auto'";
  if (const auto* name = std::get_if<std::string>(&v.data)) {
    if (*name != "scale" && *name != "auto") refuse(key, v, expected);
    s.gamma = *name == "scale" ? Gamma::scale : Gamma::automatic;
    return;
  }
  s.gamma_value = number(key, v, expected, [](double x) { return x > 0; });
  s.gamma = Gamma::number;
}

}  // namespace margin
