// A model's score as an expression of plain SQL, for generated columns and for databases without the extension.
#pragma once

#include <string>

#include "core/model/model.hpp"

namespace margin {

/// What a model's features are called in the database where the expression is used.
struct SqlNames {
  std::string features = "features";  ///< the array of a model of arrays
  std::string alias = {};             ///< of the table that has the columns; empty: none
};

/// An expression whose value has the bits of score() wherever that has one: its products and sums are those of double
/// precision, in the same order, and its constants read back as the same numbers. Of more than two classes it is an array, a
/// score for each class. Where score() has none, since a value is NULL or not known, or an array is of another length, it
/// is NULL. Columns are read by the types of the training, and every name and text is quoted. `model` is linear in its
/// features, or weighs stumps or trees. Throws Error: unsupported (a kernel, a column that SQL cannot take apart),
/// limit_exceeded (a text of more than 16 MB).
std::string sql_expression(const Model& model, const SqlNames& names, const Progress& progress = {});

}  // namespace margin
