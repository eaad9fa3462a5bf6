// Two columns that act together: what both add is one weight for each cell of coarser levels of the two.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/encoder/column.hpp"

namespace margin {

/// A column in the levels of a pair, in this order: the bins of its number, of a boolean false and true, or the categories that
/// have a level of their own, and one of all others; then, where `missing`, rows without a value.
struct PairSide {
  std::string column;
  ColumnKind kind = ColumnKind::number;
  std::vector<double> thresholds = {};       ///< of a number, ascending
  std::vector<std::string> categories = {};  ///< sorted by bytes
  bool others = false;
  bool missing = false;

  // What the encoder knows of its column.
  std::size_t at = 0;                       ///< its number
  std::int32_t filled = -1;                 ///< the level of a row without a value; −1: none
  std::vector<std::int32_t> level_of = {};  ///< of each category of the column

  std::int32_t levels() const { return known() + (missing ? 1 : 0); }
  /// Those of rows with a value.
  std::int32_t known() const {
    if (kind == ColumnKind::boolean) return 2;
    if (kind == ColumnKind::category) return static_cast<std::int32_t>(categories.size()) + (others ? 1 : 0);
    return static_cast<std::int32_t>(thresholds.size()) + 1;
  }
  /// The level of a cell (Cells::values); −1 of a category that belongs to none.
  std::int32_t level(double cell) const;
  /// `30 < age <= 41.5`, `plan=gold`, `plan is another`, `age IS NULL`.
  std::string level_text(std::int32_t level) const;
  /// Finds the column, and what it makes of missing values and categories. `columns`: of the encoder, by name.
  void bind(const std::vector<Column>& columns);
};

/// Its features, one for each cell, are 1 in it and 0 elsewhere: that of level a of the first column and b of the second
/// is number a · (levels of the second) + b.
struct PairTerm {
  std::array<PairSide, 2> sides;   ///< by name
  std::vector<double> share = {};  ///< of the rows of the training, in each cell
  std::int32_t first = 0;          ///< number of its first feature, as Column::first

  /// `age*plan`
  std::string name() const { return sides[0].column + "*" + sides[1].column; }
  std::int32_t cells() const { return sides[0].levels() * sides[1].levels(); }
  /// The cell of a row by the values of all columns; −1: none.
  std::int32_t cell(const double* values) const {
    const std::int32_t a = sides[0].level(values[sides[0].at]), b = sides[1].level(values[sides[1].at]);
    return a < 0 || b < 0 ? -1 : a * sides[1].levels() + b;
  }
  std::string cell_text(std::int32_t cell) const {
    const std::int32_t n = sides[1].levels();
    return sides[0].level_text(cell / n) + " and " + sides[1].level_text(cell % n);
  }
};

/// The largest table of cells, which bytes of unknown origin may ask for.
constexpr std::int32_t most_cells = 65536;

/// How fine the levels of a pair are.
struct PairLevels {
  std::int32_t each = 8;  ///< of a column beside one with as many
  /// Of a column beside one of `others` levels: a pair has about each² cells.
  std::int32_t beside(std::int32_t others) const;
};

/// The column in at most so many levels besides that of missing values: its bins, as far as they are needed, or its most frequent
/// categories. A number needs thresholds, and every column the spread of its training.
PairSide side_of(const Column& column, std::int32_t levels);
/// Both columns, in the order of their names. Where one has few levels the other has more.
PairTerm pair_of(const Column& a, const Column& b, const PairLevels& levels);

/// Numbers of columns, the first below the second.
using ColumnPair = std::array<std::size_t, 2>;
/// The columns that names such as `age*plan` mean, each pair once. Throws Error(invalid_option): no such column, one that cannot be
/// part of a pair (arrays, an offset), a name that a column has.
std::vector<ColumnPair> named_pairs(const std::vector<std::string>& names, const std::vector<Column>& columns);
/// Whether a column can be part of a pair.
inline bool pairs_with_others(const Column& c) { return !block(c.kind) && !c.offset && !c.grouping; }

}  // namespace margin
