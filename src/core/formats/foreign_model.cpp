#include "core/formats/foreign_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/formats/foreign_lines.hpp"
#include "core/loss/loss.hpp"

namespace margin {

namespace {

struct SolverType {
  const char *name, *loss;
  bool l1 = false;
};
constexpr SolverType solver_types[] = {
    {"L2R_LR", "logistic"},
    {"L2R_LR_DUAL", "logistic"},
    {"L2R_L2LOSS_SVC", "squared_hinge"},
    {"L2R_L2LOSS_SVC_DUAL", "squared_hinge"},
    {"L2R_L1LOSS_SVC_DUAL", "hinge"},
    {"L1R_LR", "logistic", true},
    {"L1R_L2LOSS_SVC", "squared_hinge", true},
    {"L2R_L2LOSS_SVR", "squared_epsilon_insensitive"},
    {"L2R_L2LOSS_SVR_DUAL", "squared_epsilon_insensitive"},
    {"L2R_L1LOSS_SVR_DUAL", "epsilon_insensitive"},
};

}  // namespace

Value::Object foreign_options(Value::Object options, const std::string& loss, double lambda) {
  require_lambda(lambda);
  tell(options, "loss", Value{loss});
  tell(options, "lambda", Value{lambda});
  return options;
}

Value::Object foreign_model(const GivenWeights& weights, const std::vector<double>& intercept,
                            const std::vector<std::string>& classes, const std::string& loss, double lambda,
                            Value::Object options) {
  Value::Object model;
  Value::Array rows;
  const std::size_t columns = weights.columns;
  if (weights.rows == 1) {
    model["weights"] = array_of(weights.values.data(), columns);
  } else {
    for (std::size_t k = 0; k < weights.rows; ++k)
      rows.push_back(array_of(weights.values.data() + k * columns, columns));
    model["weights"] = Value{std::move(rows)};
  }
  model["intercept"] = array_of(intercept.data(), intercept.size());
  model["loss"].data = loss;
  model["lambda"].data = lambda;
  model["norm"].data = 2.0;
  model["options"] = Value{foreign_options(std::move(options), loss, lambda)};
  if (classes.empty()) return model;
  Value::Array names;
  for (const std::string& name : classes) names.push_back(Value{name});
  model["classes"] = Value{std::move(names)};
  return model;
}

Value::Object liblinear_model(std::string_view document, double lambda, Value::Object options,
                              const Progress& progress) {
  ModelLines lines(document, "LIBLINEAR", progress);
  const SolverType* type = nullptr;
  std::int64_t classes = 0, features = -1;
  std::optional<double> bias;
  FileLabels labels;
  for (;;) {
    lines.require_next("the line \"w\"");
    const std::string_view key = lines.word();
    if (key == "solver_type") {
      const std::string_view name = lines.word();
      for (const SolverType& known : solver_types)
        if (name == known.name) type = &known;
      if (name == "MCSVM_CS" || name == "ONECLASS_SVM")
        refuse_kind("models of LIBLINEAR's solver " + std::string(name) + " have an objective that is not read here",
                    "-s 0 to 3, 5 to 7 and 11 to 13 are.");
      if (type == nullptr) lines.refuse("has " + ModelLines::shown(name) + " where a solver type is expected");
    } else if (key == "nr_class") {
      classes = lines.count("a number of classes", 1, 1000000);
    } else if (key == "label") {
      labels = read_labels(lines, classes);
    } else if (key == "nr_feature") {
      features = lines.count("a number of features", 1, 2147483646);
    } else if (key == "bias") {
      bias = lines.number("the bias");
    } else if (key == "w") {
      lines.require_end();
      break;
    } else {
      lines.refuse("begins with " + ModelLines::shown(key) +
                   ", which is none of solver_type, nr_class, label, nr_feature, bias, w");
    }
    lines.require_end();
  }
  if (type == nullptr || classes == 0 || features < 0 || !bias.has_value())
    lines.refuse("begins the weights before solver_type, nr_class, nr_feature and bias are known");
  const bool regression = is_regression_loss(type->loss);
  if (regression ? labels.size() > 0 : labels.size() < 2)
    lines.refuse(regression ? "begins the weights of a regression that has labels"
                            : "begins the weights of classes, of which two or more labels should be told");
  const auto k = static_cast<std::size_t>(regression || classes == 2 ? 1 : classes);
  GivenWeights w;
  std::vector<double> intercept(k, 0.0);
  std::vector<std::vector<double>> columns(k);
  const bool constant = *bias >= 0;
  for (std::int64_t j = 0; j < features + (constant ? 1 : 0); ++j) {
    lines.require_next("the weights of every feature");
    for (std::size_t o = 0; o < k; ++o) {
      const double value = lines.number("a weight");
      if (j < features)
        columns[o].push_back(value);
      else
        intercept[o] = value * *bias;
    }
    lines.require_end();
  }
  if (lines.next()) lines.refuse("follows the weights of the last feature");
  w.rows = k;
  w.columns = columns[0].size();
  std::vector<double> sorted_intercept;
  const bool flip = labels.first_is_lower();  // a positive score is LIBLINEAR's first label
  for (std::size_t o = 0; o < k; ++o) {
    const std::size_t from = k == 1 ? 0 : labels.order[o];
    for (const double v : columns[from]) w.values.push_back(flip ? -v : v);
    sorted_intercept.push_back(flip ? -intercept[from] : intercept[from]);
  }
  const std::vector<std::string> names = labels.names();
  if (type->l1 && *bias > 0)
    refuse_kind("LIBLINEAR's l1 penalty takes the bias as one more weight, which no objective of margin does",
                "Train with -B -1.");
  if (type->l1) tell(options, "l1_ratio", Value{1.0});
  if (*bias > 0) {
    tell(options, "intercept", Value{std::string("penalized")});
    if (*bias != 1) tell(options, "intercept_scale", Value{*bias});
  } else {
    tell(options, "intercept", Value{false});
  }
  return foreign_model(w, sorted_intercept, names, type->loss, lambda, std::move(options));
}

}  // namespace margin
