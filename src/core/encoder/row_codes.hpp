// Rows with named columns as codes: which bin or category a row is in, in place of the features that say so.
#pragma once

#include <optional>
#include <vector>

#include "core/data/coded_rows.hpp"
#include "core/encoder/encoder.hpp"

namespace margin {

/// The features of an encoder as terms, the cells of a pair as one; none where no column is cut into bins and there are no pairs, a
/// column has arrays, features were dropped, or a column has more values than a code tells apart.
std::optional<CodeLayout> code_layout(const Encoder& encoder);

/// Writes rows as code_layout() has them.
class RowCoder {
 public:
  /// `ranks`: of each column of categories the place of each number that a cell has there.
  RowCoder(const Encoder& encoder, const std::vector<std::vector<double>>& ranks, CodedRows& out);
  /// Row `i`: the numbers of its cells, with missing(j) for those that it has not. Several threads may write different rows.
  template <class IsMissing>
  void write(std::int64_t i, const double* numbers, IsMissing&& missing) const {
    for (const Cell& c : cells_) {
      const bool absent = c.may_miss && missing(c.column);
      if (c.number >= 0)
        out_.set_number(static_cast<std::size_t>(c.number), i,
                        ((absent ? c.fill : numbers[c.column]) - c.center) * c.inverse);
      if (c.term >= 0)
        out_.set_code(static_cast<std::size_t>(c.term), i,
                      absent          ? c.missing
                      : c.number >= 0 ? 0
                                      : c.code(numbers[c.column]));
    }
    for (const Pair& p : pairs_) {
      std::int32_t level[2];
      for (std::size_t k = 0; k < 2; ++k) {
        const Side& side = p.sides[k];
        level[k] = side.may_miss && missing(side.column) ? side.filled : side.level(numbers[side.column]);
      }
      const bool none = level[0] < 0 || level[1] < 0;
      out_.set_code(static_cast<std::size_t>(p.term), i, none ? 0 : level[0] * p.levels + level[1] + 1);
    }
  }

 private:
  /// A column.
  struct Cell {
    std::size_t column;
    std::int32_t term = -1, number = -1;  ///< what it writes
    bool may_miss = false;
    std::int32_t missing = 0;  ///< code
    double fill = 0, center = 0, inverse = 1;
    std::vector<double> thresholds = {};
    std::vector<std::int32_t> codes = {};  ///< of a number that is a category

    std::int32_t code(double v) const {
      if (!codes.empty()) return codes[static_cast<std::size_t>(v)];
      // Bins: how many thresholds v is above, without a branch on what it is.
      const double* from = thresholds.data();
      for (std::size_t n = thresholds.size(); n > 1;) {
        const std::size_t half = n / 2;
        from += half & -static_cast<std::size_t>(from[half - 1] < v);
        n -= half;
      }
      return static_cast<std::int32_t>(from - thresholds.data()) + static_cast<std::int32_t>(*from < v);
    }
  };

  /// A column in the levels of a pair.
  struct Side {
    std::size_t column;
    bool may_miss;
    std::int32_t filled;  ///< the level of a row without a value
    const PairSide* side;
    std::vector<std::int32_t> levels = {};  ///< of a number that is a category

    std::int32_t level(double v) const { return levels.empty() ? side->level(v) : levels[static_cast<std::size_t>(v)]; }
  };
  struct Pair {
    std::vector<Side> sides;
    std::int32_t term, levels;  ///< levels: of the second column
  };

  std::vector<Cell> cells_;
  std::vector<Pair> pairs_;
  CodedRows& out_;
};

}  // namespace margin
