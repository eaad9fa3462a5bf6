// Wide rows of which few columns are in use: hashed features, or indices that somebody else gave out. A column that no
// row uses is 0 everywhere, so its weight is 0 in every model that this library trains; whatever costs time or memory
// by the width is spared by leaving such columns out before a problem is made of the rows.
#pragma once

#include <optional>

#include "core/base/memory_limit.hpp"
#include "core/base/progress.hpp"
#include "core/model/model.hpp"

namespace margin {

/// A model to start from, in `columns` (0-based features, ascending; empty: all) of rows with `declared` features. Throws
/// Error(wrong_dimensions).
void take_columns(InitialModel& model, std::int32_t declared, const std::vector<std::int32_t>& columns);

/// The rows without the columns that none of them uses, where that is worth a copy: the rows came sparse, are wide, and
/// use a small part of their columns. Otherwise the rows as they are.
class Compaction {
 public:
  /// `memory` counts the copy; where it does not allow one, the copy's features go to the store of the rows, and
  /// without a store none is made. The rows of a kernel model stay as they are: a kernel may depend on the width, and its rows are laid out by columns in use.
  Compaction(const Dataset& data, const Options& options, const Progress& progress, MemoryBudget& memory);
  Compaction(const Compaction&) = delete;
  Compaction& operator=(const Compaction&) = delete;

  const Dataset& rows() const { return copy_.has_value() ? *copy_ : data_; }

  /// A model to start from, in the columns of rows(). Throws Error(wrong_dimensions).
  void take(InitialModel& model) const { take_columns(model, data_.dimensions(), columns_); }
  /// The option `penalty_factor` as a list for the columns of rows(), none where it says nothing; `offset_feature` as
  /// one of these. Throws Error(invalid_option).
  void take(Options& options) const;
  /// A model of rows(), as one of the rows that were given.
  void give_back(Model& model) const;

 private:
  const Dataset& data_;
  std::optional<Dataset> copy_;
  std::vector<std::int32_t> columns_;  // of the data, in the order of the copy's
};

/// The columns that a training would have weights for: those of the rows, or of the copy that Compaction makes.
std::int32_t solved_width(const Dataset& data, const Options& options, const Progress& progress);

}  // namespace margin
