// A linear model as PMML 4.4 (Data Mining Group), so that it can leave the database in a standard form.
#pragma once

#include <string>
#include <vector>

#include "core/model/model.hpp"

namespace margin {

/// A document with one RegressionModel. Classification is one table of weights per class under softmax, which makes the
/// class of largest score the predicted one; for two classes the first has score 0. Probabilities are declared as
/// outputs only for a logistic model of two classes without a calibration, of which PMML knows nothing: there the
/// softmax is exactly margin_probability. Numbers are the shortest decimals that read back as the same double.
/// `model` is linear in the features. `feature_names`: one per feature, distinct and not empty; none at all: x1, x2,
/// ...; a model with columns has fields for these alone. `version`: of this library, for the header. Throws Error:
/// wrong_dimensions (number of names), invalid_value (a name that is empty, given twice, or not expressible in XML).
std::string pmml(const Model& model, const std::vector<std::string>& feature_names, const std::string& version,
                 const Progress& progress = {});

}  // namespace margin
