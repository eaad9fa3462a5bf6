// A PMML document of one RegressionModel as the attributes of a margin_model: what formats/pmml.hpp writes, read back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/progress.hpp"
#include "core/options/options.hpp"

namespace margin {

/// What a document does not tell.
struct BesidePmml {
  std::string loss;
  double lambda = 0;
  /// Of all features of a row, in their order; empty: fields called x1, x2, ... by rising number are features of these
  /// numbers, and others are the features in the order of the document.
  std::vector<std::string> feature_names;
  Value::Object options;  ///< the model's
};

/// Weights have the bits of their numbers in the document. Read is what formats/pmml.hpp writes of models without named columns of
/// categories: elements that change a prediction and are not known are refused, and others passed over. Throws Error: malformed
/// (naming line and byte), unsupported (a model of another kind), invalid_option, limit_exceeded.
Value::Object pmml_model(std::string_view document, BesidePmml beside, const Progress& progress = {});

}  // namespace margin
