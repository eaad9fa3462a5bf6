// Rows with named columns in a cross-validation: each fold has the encoder that a training on the rows which train for it would make,
// so that nothing of the held-out rows reaches its features.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/encoder/row_table.hpp"
#include "core/train/folds.hpp"
#include "core/train/path.hpp"

namespace margin {

/// Columns that the settings name become features of the encoder. Throws Error(invalid_option) for columns that there are not.
void name_features(Options& settings, const Encoder& encoder);

/// The settings for rows as `encoder` has them: columns named in options as features, and what the encoder has done left to do no
/// more. `training`: the rows of the training. Throws Error(invalid_option) for columns that there are not.
Options encoded_settings(Options settings, const Encoder& encoder, const Dataset& training, const Progress& progress);

/// All rows as the encoder of one fold has them, and those that train for it.
struct EncodedFold {
  std::shared_ptr<const Encoder> encoder;
  std::unique_ptr<const Dataset> rows;
  Dataset training;
};

class FoldEncoding {
 public:
  /// `table`: the cells; `all`: the encoder of all rows, whose pairs of columns the folds have, each with levels of its own; `points`:
  /// the settings of the grid, columns by name. All are kept. `codes`: rows become codes.
  FoldEncoding(const RowTable& table, const Encoder& all, std::vector<Options> points, bool codes);

  /// What the training rows of a fold do not have is taken as by the options unknown_features => 'reference' and missing => 'impute': a
  /// category of the held-out rows alone is none of the known ones, a NULL the mean, or the shares of the categories. `memory` counts
  /// the rows. Throws Error as RowTable::fit and encode.
  EncodedFold encode(const FoldRows& rows, std::int32_t f, const Progress& progress, MemoryBudget& memory) const;

  /// f(k, the rows of fold k, progress, what is left of the memory) for all folds that are predicted, several at once where that is allowed.
  /// What f leaves behind must be the fold's own.
  using Visit = std::function<void(std::int32_t, const EncodedFold&, const Progress&, const MemoryBudget&)>;
  void for_each_fold(const FoldRows& rows, std::int32_t folds, bool at_once, const Progress& progress,
                     const MemoryBudget& memory, const Visit& f) const;

  /// The settings of a point of the grid for a fold, with the loss of `chosen`. A category in `bounds` or `penalty_factor` that its training does not have says
  /// nothing there. Throws Error(unsupported): one of these names a feature that folds do not share, of bins or of a pair.
  Options settings(std::size_t point, const Options& chosen, const EncodedFold& fold, const Progress& progress) const;

 private:
  const RowTable& table_;
  const Encoder& all_;
  std::vector<Options> points_;
  bool codes_;
};

}  // namespace margin
