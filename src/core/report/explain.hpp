// Why a row has its score, and which columns matter to a model at all.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/model.hpp"

namespace margin {

/// The name of a feature: that of its column, or its number from 1.
std::string feature_name(const Model& model, std::int32_t feature);

/// What one feature of a row, or the intercept, adds to the score of one output.
struct Contribution {
  std::int32_t output, feature;  ///< feature −1: the intercept
  double value;                  ///< of the feature, as the row or column has it; 1 for the intercept and indicators
  double contribution;
};

/// The features of `x`, a row as the model sees it, whose value there is not 0, and the intercept: for each output by
/// falling |contribution|. Their sum is the score. `cells`: the row before it was encoded; null for a model without
/// encoder. The model is linear in the features.
std::vector<Contribution> contributions(const Model& model, const Row& x, const Cells* cells);

/// How much of a model a column is: the Euclidean norm of its weights over all outputs, in units in which numbers have
/// the standard deviation 1, and its share of the squared norm of all weights.
struct Importance {
  std::string column;
  double norm, share;
};
/// By falling norm. Without an encoder every feature is a column.
std::vector<Importance> importance(const Model& model);

}  // namespace margin
