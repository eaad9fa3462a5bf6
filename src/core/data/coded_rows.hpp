// Rows as codes: of columns that are cut into bins, and of categories, a row keeps which bin or category it is in, a byte or two for
// each, in place of as many features as there are thresholds.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/progress.hpp"
#include "core/data/row.hpp"

namespace margin {

/// Features that one code tells: `steps` of them, then `indicators`. Code c ≤ steps: the first c steps are 1. Code steps + 1 + k: the
/// k-th indicator is 1, and the first `filled` steps are. All others are 0.
struct CodedTerm {
  std::int32_t first = 0;  ///< feature
  std::int32_t steps = 0, indicators = 0, filled = 0;

  std::int32_t features() const { return steps + indicators; }
  std::int32_t codes() const { return features() + 1; }
  /// How many features of a code are 1.
  std::int32_t ones(std::int32_t code) const { return code <= steps ? code : filled + 1; }
};

/// What the features of rows are. Each is one of a term, or a number.
struct CodeLayout {
  std::int32_t dimensions = 0;
  std::vector<CodedTerm> terms = {};       ///< ascending
  std::vector<std::int32_t> numbers = {};  ///< features that are stored as they are, ascending

  /// Where the codes of each term begin in a table of all, and its size.
  std::vector<std::size_t> starts() const;
  /// No summand of a score by RowScores goes through as many additions.
  std::int32_t depth() const;
};

/// n rows, column by column. Filled once, then const.
class CodedRows {
 public:
  static constexpr std::int32_t most_codes = 65536;

  CodedRows(CodeLayout layout, std::int64_t rows);
  static double bytes(const CodeLayout& layout, std::int64_t rows);

  const CodeLayout& layout() const { return layout_; }
  std::int64_t rows() const { return rows_; }
  void set_code(std::size_t term, std::int64_t row, std::int32_t code) {
    if (wide_[term])
      reinterpret_cast<std::uint16_t*>(codes_[term].get())[row] = static_cast<std::uint16_t>(code);
    else
      codes_[term][row] = static_cast<std::uint8_t>(code);
  }

  void set_number(std::size_t number, std::int64_t row, double value) { numbers_[number][row] = value; }
  std::int32_t code(std::size_t term, std::int64_t row) const {
    return wide_[term] ? reinterpret_cast<const std::uint16_t*>(codes_[term].get())[row] : codes_[term][row];
  }
  /// f(pointer to the codes of a term, of one byte or two).
  template <class F>
  void with_codes(std::size_t term, F&& f) const {
    if (wide_[term])
      f(reinterpret_cast<const std::uint16_t*>(codes_[term].get()));
    else
      f(static_cast<const std::uint8_t*>(codes_[term].get()));
  }
  const double* number(std::size_t k) const { return numbers_[k].get(); }

  /// The largest ‖x_i‖.
  double radius(const Progress& progress = {}) const;
  /// The row as indices and values. Its memory is the thread's: the last `kept` rows that the thread asked any CodedRows for are valid.
  static constexpr std::size_t kept = 128;
  Row row(std::int64_t i) const;
  /// The listed rows.
  std::shared_ptr<const CodedRows> subset(const std::vector<std::int64_t>& which, const Progress& progress) const;

 private:
  CodeLayout layout_;
  std::int64_t rows_;
  std::vector<bool> wide_;
  std::vector<std::unique_ptr<std::uint8_t[]>> codes_;  // of each term
  std::vector<std::unique_ptr<double[]>> numbers_;
};

/// <x_i, w> of coded rows: a look-up a term, in running sums of its weights.
class RowScores {
 public:
  /// `w`: a weight for each feature. `squares`: of the numbers' squares in place of the numbers.
  RowScores(const CodedRows& rows, const double* w, bool squares = false);
  /// u[i − begin] = <x_i, w> + constant. Of each row the same bits, whatever the others.
  void write(std::int64_t begin, std::int64_t end, double constant, double* u) const;
  /// About the multiply-adds of a row.
  static double work(const CodeLayout& layout) {
    return 2.0 * static_cast<double>(layout.terms.size() + layout.numbers.size()) + 2;
  }

 private:
  const CodedRows& rows_;
  bool squares_;
  std::vector<std::size_t> starts_;
  std::vector<double> table_, of_numbers_;
};

/// ‖x_i‖² of coded rows.
class RowSquares {
 public:
  explicit RowSquares(const CodedRows& rows);
  /// squares[i − begin] = ‖x_i‖².
  void write(std::int64_t begin, std::int64_t end, double* squares) const { scores_.write(begin, end, 0, squares); }

 private:
  RowScores scores_;
};

/// Σ c_i x_i of coded rows: an add a term to the cell of the code, of which the features' sums are sums of cells.
class RowSums {
 public:
  explicit RowSums(const CodedRows& rows);
  /// Numbers of a sum: cells, numbers, and Σ c.
  std::size_t size() const { return starts_.back() + rows_.layout().numbers.size() + 1; }
  /// cells += those of rows begin … end − 1; c[i − begin] is the coefficient of row i.
  void add(std::int64_t begin, std::int64_t end, const double* c, double* cells, bool squares = false) const;
  /// The same of `count` listed rows, c[k] that of row which[k].
  void add(const std::int64_t* which, std::size_t count, const double* c, double* cells) const;
  /// v = Σ c x, of each feature; Σ c.
  double features(const double* cells, double* v) const;

 private:
  const CodedRows& rows_;
  std::vector<std::size_t> starts_;
};

/// From sums over the rows of each code to sums over the rows in which a feature of the term is 1: `to[f]` += those of `cells`, both
/// `stride` apart.
template <class To>
void fold_cells(const CodedTerm& t, const double* cells, To&& to) {
  double all = 0, sum = 0;
  for (std::int32_t k = 0; k < t.indicators; ++k) {
    const double v = cells[t.steps + 1 + k];
    to(t.steps + k, v);
    all += v;
  }
  for (std::int32_t s = t.steps; s-- > 0;) {
    sum += cells[s + 1];
    if (s + 1 == t.filled) sum += all;
    to(s, sum);
  }
}

}  // namespace margin
