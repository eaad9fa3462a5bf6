#include "core/formats/foreign_model.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "core/base/read_number.hpp"
#include "core/data/sparse_text.hpp"
#include "core/loss/loss.hpp"

namespace margin {

namespace {

/// Lines of a document and words of a line, with numbers for messages.
class Lines {
 public:
  Lines(std::string_view text, const char* program, const Progress& progress)
      : text_(text), program_(program), progress_(progress) {}

  /// False at the end; empty lines at the end are none.
  bool next() {
    while (!text_.empty()) {
      const std::size_t end = std::min(text_.find('\n'), text_.size());
      line_ = text_.substr(0, end);
      text_.remove_prefix(std::min(text_.size(), end + 1));
      if (!line_.empty() && line_.back() == '\r') line_.remove_suffix(1);
      ++number_;
      progress_.work(16.0 * static_cast<double>(line_.size()) + 16);
      if (line_.find_first_not_of(" \t") != std::string_view::npos) return true;
    }
    line_ = {};
    return false;
  }
  void require_next(const char* expected) {
    if (!next()) refuse(std::string("ends where ") + expected + " should follow");
  }

  /// The next word of the line; empty at its end.
  std::string_view word() {
    const std::size_t begin = std::min(line_.find_first_not_of(" \t"), line_.size());
    line_.remove_prefix(begin);
    const std::string_view found = line_.substr(0, std::min(line_.find_first_of(" \t"), line_.size()));
    line_.remove_prefix(found.size());
    return found;
  }
  std::string_view rest() const { return line_; }

  double number(const char* what) {
    const std::string_view text = word();
    double value = 0;
    const std::string_view digits = !text.empty() && text[0] == '+' ? text.substr(1) : text;
    const auto end = read_number(digits.data(), digits.data() + digits.size(), value);
    const bool whole = !digits.empty() && end.ptr == digits.data() + digits.size();
    if (!whole || end.ec != std::errc() || !std::isfinite(value))
      refuse("has " + shown(text) + " where " + what + " is expected");
    return value;
  }
  std::int64_t count(const char* what, std::int64_t least, std::int64_t most) {
    const double value = number(what);
    if (!(value >= static_cast<double>(least) && value <= static_cast<double>(most)) || value != std::floor(value))
      refuse(std::string("has ") + describe(Value{value}) + " where " + what + " is expected, a whole number from " +
             std::to_string(least) + " to " + std::to_string(most));
    return static_cast<std::int64_t>(value);
  }
  void require_end() {
    if (!word().empty()) refuse("goes on where its line should end");
  }

  static std::string shown(std::string_view text) {
    return text.empty() ? "nothing" : "\"" + std::string(text.substr(0, 40)) + (text.size() > 40 ? "...\"" : "\"");
  }
  [[noreturn]] void refuse(const std::string& problem) const {
    throw Error(
        ErrorKind::malformed,
        std::string("malformed model file of ") + program_ + ": line " + std::to_string(number_) + " " + problem,
        std::string("Give the text of the file as ") + program_ + " wrote it.");
  }

 private:
  std::string_view text_, line_;
  const char* program_;
  const Progress& progress_;
  std::int64_t number_ = 0;
};

[[noreturn]] void refuse_kind(const std::string& what, const std::string& hint) {
  throw Error(ErrorKind::unsupported, what, hint);
}

void require_lambda(double lambda) {
  if (!(lambda > 0) || !std::isfinite(lambda))
    throw Error(ErrorKind::invalid_option, "lambda must be a number above 0, not " + describe(Value{lambda}),
                "Of a training with cost C on n rows it is 1/(C n).");
}

/// A label as PostgreSQL writes it.
std::string label_text(double label) {
  char text[40];
  return {text, std::to_chars(text, text + sizeof text, label).ptr};
}

Value array_of(const double* values, std::size_t n) {
  Value::Array out(n);
  for (std::size_t i = 0; i < n; ++i) out[i].data = values[i];
  return {std::move(out)};
}

/// An option that the file tells; one that is given must say the same.
void tell(Value::Object& options, const std::string& name, Value value) {
  const auto [at, added] = options.emplace(name, value);
  if (!added && at->second.data.index() == value.data.index() && describe(at->second) != describe(value))
    throw Error(ErrorKind::invalid_option,
                "option \"" + name + "\" is " + describe(at->second) + ", and the model says " + describe(value),
                "Leave it out.");
}

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

/// Places of labels by rising number, which is the order of classes.
std::vector<std::size_t> sorted(const std::vector<double>& labels, const Lines& lines) {
  std::vector<std::size_t> order(labels.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return labels[a] < labels[b]; });
  for (std::size_t k = 1; k < order.size(); ++k)
    if (labels[order[k]] == labels[order[k - 1]]) lines.refuse("has a label twice");
  return order;
}

struct Labels {
  std::vector<double> values;
  std::vector<std::size_t> order;  ///< by rising number
  std::size_t size() const { return values.size(); }
  bool first_is_lower() const { return size() == 2 && order[0] == 0; }
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const std::size_t c : order) out.push_back(label_text(values[c]));
    return out;
  }
};

Labels read_labels(Lines& lines, std::int64_t classes) {
  std::vector<double> labels;
  for (std::int64_t k = 0; k < classes; ++k)
    labels.push_back(static_cast<double>(lines.count("a label", -2147483648LL, 2147483647)));
  std::vector<std::size_t> order = sorted(labels, lines);
  return {std::move(labels), std::move(order)};
}

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
  Lines lines(document, "LIBLINEAR", progress);
  const SolverType* type = nullptr;
  std::int64_t classes = 0, features = -1;
  std::optional<double> bias;
  Labels labels;
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
      if (type == nullptr) lines.refuse("has " + Lines::shown(name) + " where a solver type is expected");
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
      lines.refuse("begins with " + Lines::shown(key) +
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

Value::Object libsvm_model(std::string_view document, double lambda, Value::Object options, const Progress& progress) {
  Lines lines(document, "LIBSVM", progress);
  std::string type, kernel;
  std::int64_t classes = 0, vectors = 0;
  double rho = 0;
  bool told_rho = false;
  Value::Object parameters;
  Labels labels;
  for (;;) {
    lines.require_next("the line \"SV\"");
    const std::string_view key = lines.word();
    if (key == "svm_type") {
      type = lines.word();
      if (type != "c_svc" && type != "epsilon_svr")
        refuse_kind("models of LIBSVM's svm_type " + Lines::shown(type) + " have an objective that is not read here",
                    "c_svc (-s 0) and epsilon_svr (-s 3) are.");
    } else if (key == "kernel_type") {
      kernel = lines.word();
      if (kernel != "linear" && kernel != "polynomial" && kernel != "rbf")
        refuse_kind("models of LIBSVM's kernel " + Lines::shown(kernel) + " are not read here",
                    "linear, polynomial and rbf (-t 0, 1, 2) are.");
    } else if (key == "nr_class") {
      classes = lines.count("a number of classes", 2, 1000000);
    } else if (key == "total_sv") {
      vectors = lines.count("a number of support vectors", 1, 2147483647);
    } else if (key == "rho") {
      if (type == "c_svc" && classes > 2)
        refuse_kind("LIBSVM tells " + std::to_string(classes) +
                        " classes apart by pairs, and margin's models of several classes have one function per class",
                    "Train one model per class, or per pair of classes.");
      rho = lines.number("rho");
      told_rho = true;
    } else if (key == "label") {
      labels = read_labels(lines, classes);
    } else if (key == "gamma" || key == "coef0" || key == "degree") {
      parameters[std::string(key)].data = lines.number("a parameter of the kernel");
    } else if (key == "probA" || key == "probB" || key == "nr_sv" || key == "prob_density_marks") {
      while (!lines.word().empty()) {
      }
    } else if (key == "SV") {
      lines.require_end();
      break;
    } else {
      lines.refuse("begins with " + Lines::shown(key) + ", which is not an entry of such a file");
    }
    lines.require_end();
  }
  const bool regression = type == "epsilon_svr";
  if (type.empty() || kernel.empty() || vectors == 0 || !told_rho || labels.size() != (regression ? 0 : 2))
    lines.refuse("begins the support vectors before svm_type, kernel_type, total_sv, rho and the labels are known");
  const double sign = labels.first_is_lower() ? -1 : 1;  // a positive score is LIBSVM's first label
  GivenWeights w;
  w.rows = 1;
  Value::Array texts;
  std::vector<double> coefficients;
  std::int32_t reached = 1;
  std::vector<SparseVector> rows;
  const auto view = [](const SparseVector& v, std::int32_t dimensions) {
    return sparse_row(v.indices.data(), v.values.data(), static_cast<std::int32_t>(v.indices.size()), dimensions);
  };
  for (std::int64_t s = 0; s < vectors; ++s) {
    lines.require_next("every support vector");
    coefficients.push_back(sign * lines.number("the coefficient of a support vector"));
    try {
      rows.push_back(parse_sparse(lines.rest(), progress));
    } catch (const Error& error) {
      lines.refuse("has a malformed support vector: " + error.message());
    }
    reached = std::max(reached, reach(view(rows.back(), 0)));
  }
  if (lines.next()) lines.refuse("follows the last support vector");
  const std::vector<std::string> names = labels.names();
  const std::string loss = regression ? "epsilon_insensitive" : "hinge";
  if (kernel == "linear") {
    // By the features that occur: an index is anything that a line says.
    std::map<std::int32_t, double> weights;
    for (std::size_t s = 0; s < rows.size(); ++s)
      for (std::size_t k = 0; k < rows[s].indices.size(); ++k)
        weights[rows[s].indices[k]] += coefficients[s] * static_cast<double>(rows[s].values[k]);
    const bool few = static_cast<std::size_t>(reached) > 4 * weights.size() + 1024;
    if (few && weights.empty()) weights[0] = 0;
    w.columns = few ? weights.size() : static_cast<std::size_t>(reached);
    w.values.assign(w.columns, 0.0);
    Value::Array columns;
    for (const auto& [feature, weight] : weights) {
      w.values[few ? columns.size() : static_cast<std::size_t>(feature)] = weight;
      columns.emplace_back().data = feature + 1.0;
    }
    tell(options, "intercept", Value{std::string("free")});
    Value::Object model = foreign_model(w, {-sign * rho}, names, loss, lambda, std::move(options));
    if (!few) return model;
    model["columns"] = Value{std::move(columns)};
    model["dimensions"].data = static_cast<double>(reached);
    return model;
  }
  w.columns = coefficients.size();
  w.values = std::move(coefficients);
  for (const SparseVector& row : rows) {
    texts.push_back(Value{print_sparse(view(row, reached), progress)});
  }
  Value::Object own;
  const char* const polynomial[] = {"gamma", "degree", "coef0"};
  for (const char* const name : polynomial) {
    if (kernel == "rbf" && std::string_view(name) != "gamma") continue;
    const auto found = parameters.find(name);
    if (found == parameters.end()) lines.refuse(std::string("ends a file that has no ") + name + " of its kernel");
    own[name] = found->second;
    tell(options, name, found->second);
  }
  tell(options, "kernel", Value{kernel});
  Value::Object model = foreign_model(w, {-sign * rho}, names, loss, lambda, std::move(options));
  model["kernel"].data = kernel;
  model["kernel_parameters"] = Value{std::move(own)};
  model["sparse_support_vectors"] = Value{std::move(texts)};
  model["dimensions"].data = static_cast<double>(reached);
  return model;
}

}  // namespace margin
