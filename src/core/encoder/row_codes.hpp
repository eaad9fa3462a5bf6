// Rows with named columns as codes: which bin or category a row is in, in place of the features that say so.
#pragma once

#include <optional>
#include <vector>

#include "core/data/coded_rows.hpp"
#include "core/encoder/encoder.hpp"

namespace margin {

/// The features of an encoder as terms; none where no column is cut into bins, a column has arrays, features were dropped, or a
/// column has more values than a code tells apart.
std::optional<CodeLayout> code_layout(const Encoder& encoder);

/// Writes rows as code_layout() has them.
class RowCoder {
 public:
  /// `ranks`: of each column of categories the place of each number that a cell has there.
  RowCoder(const Encoder& encoder, const std::vector<std::vector<double>>& ranks, CodedRows& out);
  /// Row `i`: the numbers of its cells, with missing(j) for those that it has not.
  template <class IsMissing>
  void write(std::int64_t i, const double* numbers, IsMissing&& missing) {
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

  std::vector<Cell> cells_;
  CodedRows& out_;
};

}  // namespace margin
