// Why a row has its score, and which columns matter to a model at all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/model.hpp"

namespace margin {

/// The name of a feature: that of its column, or its number from 1.
std::string feature_name(const Model& model, std::int32_t feature);

/// What one column or feature of a row, or the base, adds to the score of one output.
struct Contribution {
  std::int32_t output;
  std::string name;
  double value;  ///< of the feature, as the row or column has it; 1 for the base and categories
  double contribution;
  std::string column = {};                ///< or the element, or the feature; empty: the base
  std::optional<std::string> shown = {};  ///< the value of the column as a text; nothing: NULL, or none of its own
};

/// Why the row `x`, as the model sees it, has its scores: for each output by falling |contribution|, and their sum is the
/// score. `cells`: the row before it was encoded; null for a model without encoder. The model is linear in the features.
///
/// Where the encoder knows the means of the training, the base is the score of their mean, and a column adds what its
/// value makes the score differ from there: Σ w_f (x_f − mean_f) over its features, which is the same whatever the column
/// is coded as. Elements of arrays and sparse blocks are told one by one. Else the base is the intercept, and every
/// feature that is not 0 adds w x.
std::vector<Contribution> contributions(const Model& model, const Row& x, const Cells* cells);

/// One of the columns or elements that speak most for a row's score, or against it.
struct Reason {
  std::int32_t output;
  bool in_favour;     ///< its contribution is above 0
  std::int32_t rank;  ///< 1: the largest on its side
  std::string column;
  std::optional<std::string> value;
  double contribution;
};
/// Of each output the `most` largest contributions below 0, then those above, as contributions() has them without the
/// base. A contribution of 0 is no reason.
std::vector<Reason> reasons(const Model& model, const Row& x, const Cells* cells, std::int32_t most);

/// How much of a model a column is, over all outputs, and its share of the sum of the squares of all. Where the encoder
/// knows the rows of the training: the standard deviation of what the column adds to the score there, elements of arrays
/// and sparse blocks taken for uncorrelated. Else the Euclidean norm of its weights.
struct Importance {
  std::string column;
  double norm, share;
};
/// By falling norm. Without an encoder every feature is a column.
std::vector<Importance> importance(const Model& model);

}  // namespace margin
