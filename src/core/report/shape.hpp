// What each value of a column adds to the scores of a model: the curve of an additive model, column by column.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/model.hpp"
#include "core/report/plot.hpp"

namespace margin {

/// What the rows of one piece of a column (a bin, a category, missing ones) have in common.
struct ShapePiece {
  std::int32_t output;
  std::string column;
  std::optional<std::string> level;  ///< a category, `true`, an element [3]; `NULL` of rows without a value
  std::optional<double> above = {};  ///< of a bin: numbers above this,
  std::optional<double> upto = {};   ///< and up to this; absent at the ends
  std::optional<double> slope = {};  ///< of a number that is not cut: what one more of it adds
  std::optional<double> contribution =
      {};                            ///< else: what it makes the score differ from that of the mean of the training
  std::optional<double> share = {};  ///< of the rows of the training
  /// Between which numbers the certificate proves the optimum's slope or contribution to be; absent where it does not.
  std::optional<double> lower = {}, upper = {};
  /// Of a cell of a pair: level, above and upto of its second column; those of the first are above.
  std::optional<std::string> with_level = {};
  std::optional<double> with_above = {}, with_upto = {};
};

/// What the rows of one level of a pair have in common.
struct LevelText {
  std::optional<std::string> level = {};
  std::optional<double> above = {}, upto = {};
};
LevelText level_of(const PairSide& side, std::int32_t level);

/// The pieces of all columns of a model that is linear in the features of an encoder and the cells of its pairs, or of the one called
/// `column`, of a pair `age*plan`; `options` are those of its training. Those of a column add up to 0, weighed by their shares. Throws Error: unsupported (no encoder, or one without the means of the training),
/// invalid_value (no such column).
std::vector<ShapePiece> shape(const Model& model, const Options& options, const std::optional<std::string>& column);

/// The curve of a column of numbers, one line for each output, above the shares of the rows in its bins. A bin without an end is
/// drawn as wide as the one beside it, a number that is not cut over two deviations from its mean. Around the curve is the band that holds
/// the optimum's, as far as the picture goes, half of the curves' range above and below them. Of a column of categories or
/// booleans a bar for each value, of a set for each element with a weight, of a pair its cells in colours, one picture below the
/// other. Throws as shape, and Error(unsupported) for a column of arrays, a set without weights, and for more outputs than 12 (of
/// curves) or 6.
Plot shape_plot(const Model& model, const Options& options, const std::string& column);

}  // namespace margin
