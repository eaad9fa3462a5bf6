// A linear model as PMML 4.4 (Data Mining Group), so that it can leave the database in a standard form.
#pragma once

#include <string>
#include <vector>

#include "core/model/model.hpp"

namespace margin {

struct PmmlModel {
  Task task = Task::binary;
  std::vector<std::string> classes;  ///< empty for a regression
  Scorer scorer;
  bool logistic = false;                   ///< scores are log-odds
  std::vector<std::string> feature_names;  ///< one per feature, distinct and not empty; none at all: x1, x2, ...; a
                                           ///< model with columns has fields for these alone
  std::string version;                     ///< of this library, for the header
};

/// A document with one RegressionModel. Classification is one table of weights per class under softmax, which makes the
/// class of largest score the predicted one; for two classes the first has score 0. Probabilities are declared as
/// outputs only for a logistic model of two classes, where the softmax is exactly margin_probability. Numbers are the
/// shortest decimals that read back as the same double. Throws Error: wrong_dimensions (number of names),
/// invalid_value (a name that is empty, given twice, or not expressible in XML).
std::string pmml(const PmmlModel& model);

}  // namespace margin
