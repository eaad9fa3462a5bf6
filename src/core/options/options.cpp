#include "core/options/options.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <numeric>

#include "core/base/error.hpp"
#include "core/options/foreign_names.hpp"

namespace margin {

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

[[noreturn]] void refuse(std::string_view key, const Value& found, const std::string& expected) {
  throw Error(ErrorKind::invalid_option,
              "option \"" + std::string(key) + "\" must be " + expected + ", not " + describe(found));
}

double number(std::string_view key, const Value& v, const std::string& expected,
              const std::function<bool(double)>& valid) {
  const double* x = std::get_if<double>(&v.data);
  if (x == nullptr || !std::isfinite(*x) || !valid(*x)) refuse(key, v, expected);
  return *x;
}

bool boolean(std::string_view key, const Value& v) {
  const bool* x = std::get_if<bool>(&v.data);
  if (x == nullptr) refuse(key, v, "true or false");
  return *x;
}

std::string text(std::string_view key, const Value& v) {
  const auto* x = std::get_if<std::string>(&v.data);
  if (x == nullptr || x->empty()) refuse(key, v, "a name");
  return *x;
}

template <class E>
E choice(std::string_view key, const Value& v, const std::vector<std::pair<std::string, E>>& names) {
  const auto* x = std::get_if<std::string>(&v.data);
  std::string all;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (x != nullptr && *x == names[i].first) return names[i].second;
    all += (i == 0 ? "'" : (i + 1 == names.size() ? " or '" : ", '")) + names[i].first + "'";
  }
  refuse(key, v, all);
}

/// Of an array of numbers, or of one array of them for each output.
std::vector<double> numbers(std::string_view key, const Value& v) {
  static const auto any = [](double) { return true; };
  std::vector<double> out;
  if (std::holds_alternative<std::monostate>(v.data)) return out;
  const auto* array = std::get_if<Value::Array>(&v.data);
  if (array == nullptr) refuse(key, v, "an array of finite numbers");
  for (const Value& item : *array) {
    if (const auto* row = std::get_if<Value::Array>(&item.data))
      for (const Value& cell : *row) out.push_back(number(key, cell, "an array of finite numbers", any));
    else
      out.push_back(number(key, item, "an array of finite numbers", any));
  }
  return out;
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

void set_initial(Options& s, std::string_view key, const Value& v) {
  const auto* object = std::get_if<Value::Object>(&v.data);
  if (object == nullptr) refuse(key, v, "a model (an object with weights and intercept)");
  InitialModel model;
  for (const auto& [field, item] : *object) {
    if (field == "weights") model.weights = numbers(key, item);
    if (field == "intercept") model.intercept = numbers(key, item);
    if (field == "dual_weights") model.dual_weights = numbers(key, item);
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

void set_norm(Options& s, std::string_view key, const Value& v) {
  const auto* name = std::get_if<std::string>(&v.data);
  s.sparse_norm = name != nullptr && *name == "sparse";
  if (!s.sparse_norm)
    s.norm = number(key, v, "a number from 1 to 2, or 'sparse'", [](double x) { return x >= 1 && x <= 2; });
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

using Setter = std::function<void(Options&, std::string_view, const Value&)>;

const std::vector<std::pair<std::string_view, Setter>>& setters() {
  auto positive = [](double x) { return x > 0; };
  auto in_range = [](double x) { return x >= 1e-150 && x <= 1e150; };
  static const std::vector<std::pair<std::string_view, Setter>> table = {
      {"norm", set_norm},
      {"lambda",
       [=](Options& s, std::string_view k, const Value& v) {
         s.lambda = number(k, v, "a number from 1e-300 to 1e300", [](double x) { return x >= 1e-300 && x <= 1e300; });
       }},
      {"loss", [](Options& s, std::string_view k, const Value& v) { s.loss = text(k, v); }},
      {"solver", [](Options& s, std::string_view k, const Value& v) { s.solver = text(k, v); }},
      {"tolerance",
       [](Options& s, std::string_view k, const Value& v) {
         s.tolerance = number(k, v, "a number of at least 0 and below 1", [](double x) { return x >= 0 && x < 1; });
       }},
      {"max_iterations",
       [](Options& s, std::string_view k, const Value& v) {
         s.max_iterations = static_cast<std::int64_t>(number(k, v, "a whole number from 1 to 1e15", [](double x) {
           return x >= 1 && x <= 1e15 && x == std::floor(x);
         }));
       }},
      {"max_seconds", [=](Options& s, std::string_view k,
                          const Value& v) { s.max_seconds = number(k, v, "a positive number", positive); }},
      {"intercept", [](Options& s, std::string_view k, const Value& v) { s.intercept = boolean(k, v); }},
      {"intercept_scale",
       [=](Options& s, std::string_view k, const Value& v) {
         s.intercept_scale = number(k, v, "a number from 1e-150 to 1e150", in_range);
       }},
      {"standardize", [](Options& s, std::string_view k, const Value& v) { s.standardize = boolean(k, v); }},
      {"class_weight", set_class_weight},
      {"seed",
       [](Options& s, std::string_view k, const Value& v) {
         s.seed = static_cast<std::uint64_t>(number(k, v, "a whole number from 0 to 2^53", [](double x) {
           return x >= 0 && x <= 9007199254740992.0 && x == std::floor(x);
         }));
       }},
      {"history", [](Options& s, std::string_view k, const Value& v) { s.history = boolean(k, v); }},
      {"dual_weights", [](Options& s, std::string_view k, const Value& v) { s.dual_weights = boolean(k, v); }},
      {"initial", set_initial},
      {"log_level",
       [](Options& s, std::string_view k, const Value& v) {
         s.log_level = choice<std::string>(
             k, v, {{"debug1", "debug1"}, {"log", "log"}, {"info", "info"}, {"notice", "notice"}, {"off", "off"}});
       }},
      {"order",
       [](Options& s, std::string_view k, const Value& v) {
         s.order = choice<Order>(
             k, v, {{"permutation", Order::permutation}, {"random", Order::random}, {"cyclic", Order::cyclic}});
       }},
      {"output",
       [](Options& s, std::string_view k, const Value& v) {
         s.output =
             choice<Output>(k, v, {{"last", Output::last}, {"average", Output::average}, {"random", Output::random}});
       }},
      {"start",
       [](Options& s, std::string_view k, const Value& v) {
         s.start = choice<Start>(k, v, {{"zero", Start::zero}, {"sgd", Start::sgd}});
       }},
      {"l1_ratio",
       [](Options& s, std::string_view k, const Value& v) {
         s.l1_ratio = number(k, v, "a number of at least 0 and below 1", [](double x) { return x >= 0 && x < 1; });
       }},
      {"epsilon",
       [](Options& s, std::string_view k, const Value& v) {
         s.epsilon = number(k, v, "a number from 0 to 1e150", [](double x) { return x >= 0 && x <= 1e150; });
       }},
      {"smoothing", [=](Options& s, std::string_view k,
                        const Value& v) { s.smoothing = number(k, v, "a number from 1e-150 to 1e150", in_range); }},
      {"calibration",
       [](Options& s, std::string_view k, const Value& v) {
         s.calibration = choice<Calibrate>(
             k, v, {{"none", Calibrate::none}, {"platt", Calibrate::platt}, {"isotonic", Calibrate::isotonic}});
       }},
      {"unseen",
       [](Options& s, std::string_view k, const Value& v) {
         s.ignore_unseen = choice<bool>(k, v, {{"error", false}, {"ignore", true}});
       }},
      {"one_class",
       [](Options& s, std::string_view k, const Value& v) {
         s.null_for_one_class = choice<bool>(k, v, {{"error", false}, {"null", true}});
       }},
      {"shrinkage",
       [](Options& s, std::string_view k, const Value& v) {
         s.shrinkage = number(k, v, "a number above 0 and at most 1", [](double x) { return x > 0 && x <= 1; });
       }},
      {"step",
       [](Options& s, std::string_view k, const Value& v) {
         s.step = choice<Step>(k, v,
                               {{"quadratic", Step::quadratic},
                                {"wolfe", Step::wolfe},
                                {"adaboost", Step::adaboost},
                                {"optimal", Step::optimal},
                                {"theory", Step::theory}});
       }},
      {"learners",
       [](Options& s, std::string_view k, const Value& v) {
         s.learners = choice<Learners>(k, v, {{"features", Learners::features}, {"stumps", Learners::stumps}});
       }},
      {"accelerated", [](Options& s, std::string_view k, const Value& v) { s.accelerated = boolean(k, v); }},
      {"working_set", [](Options& s, std::string_view k, const Value& v) { s.working_set = boolean(k, v); }},
      {"kernel", [](Options& s, std::string_view k, const Value& v) { s.kernel = text(k, v); }},
      {"gamma", set_gamma},
      {"degree",
       [](Options& s, std::string_view k, const Value& v) {
         s.degree = number(k, v, "a whole number from 1 to 100",
                           [](double x) { return x >= 1 && x <= 100 && x == std::floor(x); });
       }},
      {"coef0",
       [](Options& s, std::string_view k, const Value& v) {
         s.coef0 = number(k, v, "a number of 0 or more", [](double x) { return x >= 0; });
       }},
      {"width",
       [](Options& s, std::string_view k, const Value& v) {
         s.width = static_cast<std::int32_t>(number(k, v, "a whole number from 1 to 1000000",
                                                    [](double x) { return x >= 1 && x <= 1e6 && x == std::floor(x); }));
       }},
      {"on_error",
       [](Options& s, std::string_view k, const Value& v) {
         s.null_for_error = choice<bool>(k, v, {{"error", false}, {"null", true}});
       }},
  };
  return table;
}

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
  return 2 * distance <= name.size() + 1 ? "Did you mean \"" + std::string(best) + "\"?" : "Known are: " + all + ".";
}

Error unknown_option(const std::string& key, const std::vector<std::string_view>& names) {
  std::string hint = hint_for_foreign_option(key);
  if (hint.empty()) hint = name_hint(key, names);
  return Error(ErrorKind::invalid_option, "unknown option \"" + key + "\"", hint);
}

const std::vector<std::string_view>& option_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> out;
    for (const auto& entry : setters()) out.push_back(entry.first);
    return out;
  }();
  return names;
}

Options parse_options(const Value::Object& options) {
  Options s;
  for (const auto& [key, value] : options) {
    const auto& table = setters();
    const auto entry = std::find_if(table.begin(), table.end(), [&](const auto& e) { return e.first == key; });
    if (entry == table.end()) throw unknown_option(key, option_names());
    if (!std::holds_alternative<std::monostate>(value.data)) entry->second(s, key, value);  // null: the default
  }
  return s;
}

}  // namespace margin
