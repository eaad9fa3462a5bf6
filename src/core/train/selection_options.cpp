// What cross-validation and paths read besides the options of train_margin.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/base/error.hpp"
#include "core/loss/loss.hpp"
#include "core/options/foreign_names.hpp"
#include "core/solvers/solver.hpp"
#include "core/train/certified_selection.hpp"
#include "core/train/path.hpp"

namespace margin {

namespace {

struct NamedMetric {
  Metric metric;
  std::string_view name;
  bool larger_is_better, regression;
  bool two_classes = false, probabilities = false;
};

constexpr NamedMetric metrics[] = {
    {Metric::accuracy, "accuracy", true, false},
    {Metric::balanced_accuracy, "balanced_accuracy", true, false},
    {Metric::f1, "f1", true, false, true},
    {Metric::f1_macro, "f1_macro", true, false},
    {Metric::mcc, "mcc", true, false},
    {Metric::auc, "auc", true, false, true},
    {Metric::average_precision, "average_precision", true, false, true},
    {Metric::log_loss, "log_loss", false, false, false, true},
    {Metric::brier, "brier", false, false, true, true},
    {Metric::mse, "mse", false, true},
    {Metric::mae, "mae", false, true},
    {Metric::r2, "r2", true, true},
    {Metric::pinball, "pinball", false, true},
    {Metric::deviance, "deviance", false, true},
};

const NamedMetric& entry_of(Metric metric) {
  return *std::find_if(std::begin(metrics), std::end(metrics),
                       [=](const NamedMetric& m) { return m.metric == metric; });
}

[[noreturn]] void refuse(const char* key, const Value& found, const char* expected, const std::string& hint = {}) {
  throw Error(ErrorKind::invalid_option,
              "option \"" + std::string(key) + "\" must be " + expected + ", not " + describe(found), hint);
}

/// The options that cross-validation alone has.
constexpr std::string_view own_options[] = {"lambdas", "Cs",          "losses",    "grid",          "folds",  "split",
                                            "metric",  "predictions", "certified", "max_trainings", "encoder"};

/// Models that are only compared need not be as narrow as one that is kept: what is left of the optimum is far below
/// the deviation between folds.
constexpr double selection_tolerance = 1e-2;

/// Takes a key out of the options; nothing when it is missing or null.
std::optional<Value> take(Value::Object& options, const char* key) {
  const auto at = options.find(key);
  if (at == options.end()) return std::nullopt;
  Value value = std::move(at->second);
  options.erase(at);
  if (std::holds_alternative<std::monostate>(value.data)) return std::nullopt;
  return value;
}

void refuse_both(const Value::Object& options, const char* one, const char* many) {
  const auto at = options.find(one);
  if (at != options.end() && !std::holds_alternative<std::monostate>(at->second.data))
    throw Error(ErrorKind::invalid_option, "options \"" + std::string(one) + "\" and \"" + many +
                                               "\" are mutually exclusive, expected one of them");
}

constexpr std::size_t longest_list = 1000;

/// `lambdas`, or `Cs`.
std::vector<double> take_numbers(Value::Object& options, const char* key) {
  static const char* const expected = "an array of 1 to 1000 numbers from 1e-300 to 1e300";
  const std::optional<Value> value = take(options, key);
  if (!value.has_value()) return {};
  refuse_both(options, "lambda", key);
  const auto* array = std::get_if<Value::Array>(&value->data);
  if (array == nullptr || array->empty() || array->size() > longest_list) refuse(key, *value, expected);
  std::vector<double> out;
  for (const Value& item : *array) {
    const double* number = std::get_if<double>(&item.data);
    if (number == nullptr || !(*number >= 1e-300 && *number <= 1e300)) refuse(key, item, expected);
    out.push_back(*number);
  }
  return out;
}

void take_strengths(Value::Object& options, SelectionOptions& s) {
  s.costs = take_numbers(options, "Cs");
  if (!s.costs.empty()) refuse_both(options, "lambdas", "Cs");
  s.lambdas = take_numbers(options, "lambdas");
}

/// Options of the problem that is solved; lambda and loss have lists of their own.
constexpr std::string_view grid_options[] = {"bounds",    "class_weight", "constraints", "coef0",          "degree",
                                             "epsilon",   "fairness",     "gamma",       "intercept",      "kernel",
                                             "l1_ratio",  "monotone",     "multiclass",  "penalty_factor", "positive",
                                             "smoothing", "standardize",  "width"};

/// Every combination of the values that the option `grid` lists.
std::vector<Value::Object> take_grid(Value::Object& options) {
  const std::optional<Value> value = take(options, "grid");
  std::vector<Value::Object> points(1);
  if (!value.has_value()) return points;
  const auto* const lists = std::get_if<Value::Object>(&value->data);
  if (lists == nullptr) refuse("grid", *value, "an object of option: array of values");
  for (const auto& [key, list] : *lists) {
    const std::string& name = key;
    if (std::find(std::begin(grid_options), std::end(grid_options), name) == std::end(grid_options))
      throw Error(ErrorKind::invalid_option, "option \"grid\" does not take \"" + name + "\"",
                  name == "lambda" ? "Give lambdas."
                  : name == "loss" ? "Give losses."
                  : name == "C"    ? "Give Cs."
                                   : name_hint(name, {std::begin(grid_options), std::end(grid_options)}));
    refuse_both(options, name.c_str(), "grid");
    const auto* const values = std::get_if<Value::Array>(&list.data);
    if (values == nullptr || values->empty())
      throw Error(ErrorKind::invalid_option,
                  "option \"grid\" must have an array of values for \"" + name + "\", not " + describe(list));
    if (points.size() * values->size() > longest_list)
      throw Error(ErrorKind::invalid_option, "option \"grid\" has more than 1000 combinations of values",
                  "Give fewer values of each option.");
    std::vector<Value::Object> longer;
    for (const Value::Object& point : points)
      for (const Value& v : *values) {
        longer.push_back(point);
        longer.back()[name] = v;
      }
    points = std::move(longer);
  }
  return points;
}

std::vector<std::string> take_losses(Value::Object& options) {
  static const char* const expected = "an array of names of losses";
  const std::optional<Value> value = take(options, "losses");
  if (!value.has_value()) return {};
  refuse_both(options, "loss", "losses");
  const auto* array = std::get_if<Value::Array>(&value->data);
  if (array == nullptr || array->empty() || array->size() > longest_list) refuse("losses", *value, expected);
  std::vector<std::string> out;
  for (const Value& item : *array) {
    const auto* name = std::get_if<std::string>(&item.data);
    if (name == nullptr) refuse("losses", item, expected);
    out.push_back(*name);
  }
  return out;
}

/// What is left goes to parse_options; its hints do not know `own` names.
Options parse_rest(const Value::Object& options, const std::vector<std::string_view>& own) {
  std::vector<std::string_view> names = option_names();
  for (const auto& [key, value] : options) {
    if (std::find(names.begin(), names.end(), key) != names.end()) continue;
    names.insert(names.end(), own.begin(), own.end());
    throw unknown_option(key, names);
  }
  return parse_options(options);
}

/// The lists, whether they were given as such or as one lambda and one loss.
void settle(SelectionOptions& s) {
  const bool listed = !s.lambdas.empty() || !s.costs.empty();
  if (s.settings.norm != 2 || s.settings.sparse_norm || s.settings.learners != Learners::features)
    throw Error(
        ErrorKind::unsupported,
        s.settings.learners == Learners::features
            ? "option \"norm\" below 2 makes a hard margin, which has no lambda to choose"
            : "stumps are boosted to a hard margin, which has no lambda to choose",
        "Compare such models on rows held out: train_margin(label, features, options) FILTER (WHERE id % 5 <> 0), "
        "then margin_evaluate(model, label, features) FILTER (WHERE id % 5 = 0). For sparse weights with a lambda "
        "give l1_ratio.");
  if (s.settings.lambda == 0.0)
    throw Error(ErrorKind::unsupported, "option \"lambda\" must be above 0 here: at 0 there is nothing to choose",
                "Leave it out for the default, or train with train_margin.");
  if (s.settings.lambda.has_value() && !listed) s.lambdas = {*s.settings.lambda};
  if (s.losses.empty()) s.losses = {s.settings.loss.empty() ? "hinge" : s.settings.loss};
  for (const std::string& name : s.losses) {
    if (name == "interpolate")
      throw Error(ErrorKind::unsupported, "loss \"interpolate\" meets every target, there is no lambda to choose",
                  "Choose a regression loss such as squared, or train with train_margin.");
    make_loss(name, s.settings);  // throws for an unknown name
    if (is_regression_loss(name) != is_regression_loss(s.losses.front()))
      throw Error(ErrorKind::unsupported, "losses \"" + s.losses.front() + "\" and \"" + name + "\" do not go together",
                  "One is for classes, the other for numbers: select among each kind by itself.");
  }
  s.settings.lambda = s.lambdas.empty() ? 1.0 : s.lambdas.front();
  s.settings.loss = s.losses.front();
}

SelectionOptions checked(SelectionOptions& s) {
  if (s.certified.has_value()) require_certifiable(s);
  return std::move(s);
}

bool all_are(const SelectionOptions& s, std::string_view loss) {
  return std::all_of(s.losses.begin(), s.losses.end(), [&](const std::string& name) { return name == loss; });
}

}  // namespace

std::string_view metric_name(Metric metric) { return entry_of(metric).name; }
bool larger_is_better(Metric metric) { return entry_of(metric).larger_is_better; }
bool of_two_classes(Metric metric) { return entry_of(metric).two_classes; }
bool of_probabilities(Metric metric) { return entry_of(metric).probabilities; }
Dataset::Outcome outcome_of(const SelectionOptions& options) { return outcome_of(options.settings); }

SelectionOptions parse_path(Value::Object options) {
  SelectionOptions s;
  take_strengths(options, s);
  s.settings = parse_rest(options, {"lambdas", "Cs"});
  settle(s);
  return s;
}

bool prefers_codes(const SelectionOptions& s) {
  if (s.certified.has_value()) return false;
  const auto at_point = [&](Options settings) {
    return std::all_of(s.losses.begin(), s.losses.end(), [&](const std::string& loss) {
      if (settings.lambda.has_value()) settings.loss = loss;
      return prefers_codes(settings);
    });
  };
  if (s.grid.empty()) return at_point(s.settings);
  return std::all_of(s.grid.begin(), s.grid.end(), [&](const GridPoint& point) { return at_point(point.settings); });
}

Metric usual_metric(const SelectionOptions& s) {
  return all_are(s, "quantile")                 ? Metric::pinball
         : all_are(s, "poisson")                ? Metric::deviance
         : is_regression_loss(s.losses.front()) ? Metric::mse
                                                : Metric::accuracy;
}

static Metric metric_of(const SelectionOptions& s, const std::optional<Value>& metric) {
  const bool regression = is_regression_loss(s.losses.front());
  if (!metric.has_value()) return usual_metric(s);
  const auto* name = std::get_if<std::string>(&metric->data);
  const auto known = std::find_if(std::begin(metrics), std::end(metrics),
                                  [&](const NamedMetric& m) { return name != nullptr && m.name == *name; });
  if (known == std::end(metrics))
    refuse("metric", *metric,
           "'accuracy', 'balanced_accuracy', 'f1', 'f1_macro', 'mcc', 'auc', 'average_precision', 'log_loss' or "
           "'brier', for a regression 'mse', 'mae', 'r2', 'pinball' or 'deviance'",
           name == nullptr ? std::string() : hint_for_foreign_metric(*name));
  if (known->regression != regression)
    throw Error(
        ErrorKind::unsupported, "metric \"" + *name + "\" does not go with the loss \"" + s.losses.front() + "\"",
        regression ? "Use mse, mae, r2, pinball (of quantiles) or deviance (of counts)."
                   : "Use accuracy, balanced_accuracy, f1, f1_macro, mcc, auc, average_precision, log_loss or brier.");
  for (const std::string& loss : s.losses)
    if (known->probabilities && !make_loss(loss, s.settings)->has_probability())
      throw Error(ErrorKind::unsupported, "metric \"" + *name + "\" needs the loss \"logistic\", not \"" + loss + "\"",
                  "Only logistic models give probabilities; use another metric.");
  for (const auto& [of, needed] : {std::pair(Metric::pinball, "quantile"), std::pair(Metric::deviance, "poisson")})
    if (known->metric == of && !all_are(s, needed))
      throw Error(ErrorKind::unsupported,
                  "metric \"" + *name + "\" needs the loss \"" + needed + "\" alone, not \"" +
                      *std::find_if(s.losses.begin(), s.losses.end(), [n = needed](const auto& l) { return l != n; }) +
                      "\"",
                  "Use mse, mae or r2.");
  return known->metric;
}

static void take_encoder(Value::Object& options, SelectionOptions& s) {
  const auto encoder = take(options, "encoder");
  if (!encoder.has_value()) return;
  const auto* const name = std::get_if<std::string>(&encoder->data);
  if (name == nullptr || (*name != "fold" && *name != "all")) refuse("encoder", *encoder, "'fold' or 'all'");
  s.encoder = *name == "all" ? EncoderRows::all : EncoderRows::fold;
}

SelectionOptions parse_cross_validation(Value::Object options) {
  SelectionOptions s;
  take_strengths(options, s);
  s.losses = take_losses(options);
  const std::vector<Value::Object> points = take_grid(options);
  if (const auto folds = take(options, "folds")) {
    const double* number = std::get_if<double>(&folds->data);
    if (number == nullptr || !(*number >= 2 && *number <= 1000 && *number == std::floor(*number)))
      refuse("folds", *folds, "a whole number from 2 to 1000");
    s.folds = static_cast<std::int32_t>(*number);
  }
  if (const auto split = take(options, "split")) {
    const auto* const name = std::get_if<std::string>(&split->data);
    if (name == nullptr || (*name != "folds" && *name != "forward")) refuse("split", *split, "'folds' or 'forward'");
    s.forward = *name == "forward";
  }
  if (const auto predictions = take(options, "predictions")) {
    const auto* const wanted = std::get_if<bool>(&predictions->data);
    if (wanted == nullptr) refuse("predictions", *predictions, "true or false");
    s.predictions = *wanted;
  }
  take_encoder(options, s);
  const std::optional<Value> metric = take(options, "metric");
  const auto given = options.find("tolerance");
  const bool default_tolerance = given == options.end() || std::holds_alternative<std::monostate>(given->second.data);
  if (const auto certified = take(options, "certified")) {
    const double* number = std::get_if<double>(&certified->data);
    if (number == nullptr || !(*number > 0 && *number < 1))
      refuse("certified", *certified, "a number above 0 and below 1");
    s.certified = *number;
    if (s.encoder == EncoderRows::fold)
      throw Error(ErrorKind::unsupported, "option \"encoder\" is 'fold', and \"certified\" takes that of all rows",
                  "Its bounds are about the same features in all folds: leave out encoder.");
  }
  if (const auto trainings = take(options, "max_trainings")) {
    const double* number = std::get_if<double>(&trainings->data);
    if (number == nullptr || !(*number >= 2 && *number <= 10000 && *number == std::floor(*number)))
      refuse("max_trainings", *trainings, "a whole number from 2 to 10000");
    if (!s.certified.has_value())
      throw Error(ErrorKind::invalid_option, "option \"max_trainings\" is not used without \"certified\"",
                  "A cross-validation without certified trains at every lambda of its list.");
    s.max_trainings = static_cast<std::int64_t>(*number);
  }
  s.settings = parse_rest(options, {std::begin(own_options), std::end(own_options)});
  if (s.settings.initial.has_value())
    throw Error(ErrorKind::unsupported, "option \"initial\" is not used by cross-validation",
                "A model that has seen the held-out rows must not start the training without them.");
  if (default_tolerance) s.settings.tolerance = selection_tolerance;
  s.settings.history = s.settings.dual_weights = false;
  s.settings.calibration = Calibrate::none;  // no metric reads probabilities other than the model's own
  settle(s);
  for (const Value::Object& point : points) {
    Value::Object all = options;
    for (const auto& [key, value] : point) all[key] = value;
    Options settings = parse_options(all);
    settings.tolerance = s.settings.tolerance;
    settings.history = settings.dual_weights = false;
    settings.calibration = Calibrate::none;
    settings.lambda = s.settings.lambda;
    settings.loss = s.settings.loss;
    s.grid.push_back({point, std::move(settings)});
  }
  s.metric = metric_of(s, metric);
  return checked(s);
}

Value::Object chosen_options(Value::Object options, const SettingScore& choice, const Value::Object& grid_values) {
  for (const std::string_view key : own_options) options.erase(std::string(key));
  for (const auto& [key, value] : grid_values) options[key] = value;
  options["lambda"] = {choice.lambda};
  options["loss"] = {choice.loss};
  return options;
}

}  // namespace margin
