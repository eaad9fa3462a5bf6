// Models of other programs as the attributes of a margin_model: weights without a proof.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/progress.hpp"
#include "core/options/options.hpp"

namespace margin {

/// A model file of LIBLINEAR (`train`), -s 0 to 3, 5, 6, 7 and 11 to 13. The file does not say C: `lambda` is 1/(C n), above
/// 0. `options` are the model's, beside what the file says; of a regression its epsilon. Throws Error: malformed (naming
/// the line), unsupported (a model of another objective), invalid_option.
Value::Object liblinear_model(std::string_view document, double lambda, Value::Object options,
                              const Progress& progress = {});

/// The same of a model file of LIBSVM (`svm-train`), -s 0 of two classes and -s 3, -t 0, 1 and 2. A linear kernel becomes
/// weights of features.
Value::Object libsvm_model(std::string_view document, double lambda, Value::Object options,
                           const Progress& progress = {});

/// The options of a model from elsewhere: those given, with its loss and its lambda. Throws Error(invalid_option): a lambda
/// that is not above 0, options that say another thing.
Value::Object foreign_options(Value::Object options, const std::string& loss, double lambda);

/// `rows` × `columns` weights: one row, or one per class of more than two.
struct GivenWeights {
  std::vector<double> values;
  std::size_t rows = 0, columns = 0;
};

/// A soft margin of these weights, with one intercept for each row; `classes`: none for a regression. Throws as foreign_options.
Value::Object foreign_model(const GivenWeights& weights, const std::vector<double>& intercept,
                            const std::vector<std::string>& classes, const std::string& loss, double lambda,
                            Value::Object options);

}  // namespace margin
