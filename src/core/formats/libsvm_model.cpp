// Model files of LIBSVM (formats/foreign_model.hpp).
#include <map>

#include "core/data/sparse_text.hpp"
#include "core/formats/foreign_lines.hpp"

namespace margin {

namespace {

/// What precedes the support vectors.
struct LibsvmHead {
  std::string type, kernel;
  std::int64_t classes = 0, vectors = 0;
  double rho = 0;
  bool told_rho = false;
  Value::Object parameters;
  FileLabels labels;

  bool regression() const { return type == "epsilon_svr"; }
  std::string loss() const { return regression() ? "epsilon_insensitive" : "hinge"; }
};

LibsvmHead read_head(ModelLines& lines) {
  LibsvmHead head;
  auto& [type, kernel, classes, vectors, rho, told_rho, parameters, labels] = head;
  for (;;) {
    lines.require_next("the line \"SV\"");
    const std::string_view key = lines.word();
    if (key == "svm_type") {
      type = lines.word();
      if (type != "c_svc" && type != "epsilon_svr")
        refuse_kind(
            "models of LIBSVM's svm_type " + ModelLines::shown(type) + " have an objective that is not read here",
            "c_svc (-s 0) and epsilon_svr (-s 3) are.");
    } else if (key == "kernel_type") {
      kernel = lines.word();
      if (kernel != "linear" && kernel != "polynomial" && kernel != "rbf")
        refuse_kind("models of LIBSVM's kernel " + ModelLines::shown(kernel) + " are not read here",
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
      lines.refuse("begins with " + ModelLines::shown(key) + ", which is not an entry of such a file");
    }
    lines.require_end();
  }
  if (type.empty() || kernel.empty() || vectors == 0 || !told_rho || labels.size() != (head.regression() ? 0 : 2))
    lines.refuse("begins the support vectors before svm_type, kernel_type, total_sv, rho and the labels are known");
  return head;
}

/// Weights on rows, or on features.
struct Expansion {
  std::vector<double> coefficients;
  std::vector<SparseVector> rows;
  std::int32_t reached = 1;
};

FeatureRow view(const SparseVector& v, std::int32_t dimensions) {
  return sparse_row(v.indices.data(), v.values.data(), static_cast<std::int32_t>(v.indices.size()), dimensions);
}

Expansion read_vectors(ModelLines& lines, std::int64_t vectors, double sign, const Progress& progress) {
  Expansion out;
  auto& [coefficients, rows, reached] = out;
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
  return out;
}

/// The weights of features that a linear kernel's expansion adds up to.
Value::Object linear_model(const LibsvmHead& head, const Expansion& found, double sign, double lambda,
                           Value::Object options) {
  const auto& [coefficients, rows, reached] = found;
  GivenWeights w;
  w.rows = 1;
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
  Value::Object model =
      foreign_model(w, {-sign * head.rho}, head.labels.names(), head.loss(), lambda, std::move(options));
  if (!few) return model;
  model["columns"] = Value{std::move(columns)};
  model["dimensions"].data = static_cast<double>(reached);
  return model;
}

}  // namespace

Value::Object libsvm_model(std::string_view document, double lambda, Value::Object options, const Progress& progress) {
  ModelLines lines(document, "LIBSVM", progress);
  const LibsvmHead head = read_head(lines);
  const double sign = head.labels.first_is_lower() ? -1 : 1;  // a positive score is LIBSVM's first label
  Expansion found = read_vectors(lines, head.vectors, sign, progress);
  if (head.kernel == "linear") return linear_model(head, found, sign, lambda, std::move(options));
  GivenWeights w;
  w.rows = 1;
  w.columns = found.coefficients.size();
  w.values = std::move(found.coefficients);
  Value::Array texts;
  for (const SparseVector& row : found.rows) {
    texts.push_back(Value{print_sparse(view(row, found.reached), progress)});
  }
  Value::Object own;
  const char* const polynomial[] = {"gamma", "degree", "coef0"};
  for (const char* const name : polynomial) {
    if (head.kernel == "rbf" && std::string_view(name) != "gamma") continue;
    const auto found = head.parameters.find(name);
    if (found == head.parameters.end()) lines.refuse(std::string("ends a file that has no ") + name + " of its kernel");
    own[name] = found->second;
    tell(options, name, found->second);
  }
  tell(options, "kernel", Value{head.kernel});
  Value::Object model =
      foreign_model(w, {-sign * head.rho}, head.labels.names(), head.loss(), lambda, std::move(options));
  model["kernel"].data = head.kernel;
  model["kernel_parameters"] = Value{std::move(own)};
  model["sparse_support_vectors"] = Value{std::move(texts)};
  model["dimensions"].data = static_cast<double>(found.reached);
  return model;
}

}  // namespace margin
