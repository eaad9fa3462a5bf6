// Rows with named columns as rows of numbers: the part of a model that knows its columns.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/data/row.hpp"
#include "core/encoder/column.hpp"
#include "core/encoder/pair.hpp"
#include "core/math/normal_equations.hpp"
#include "core/options/options.hpp"

namespace margin {

/// One row, column by column in the order of an encoder: NaN is a missing value; a category is its number, −1 one that
/// the encoder does not know; a block's value is in `blocks`, its cell any number. That of a set has the numbers of its known
/// elements as indices, each once, ascending.
struct Cells {
  std::vector<double> values;
  std::vector<FeatureRow> blocks;

  void resize(std::size_t columns) {
    values.resize(columns);
    blocks.resize(columns);
  }
};

class Encoder {
 public:
  /// Of columns in any order; `pairs`: of these, with a feature for each cell behind those of all columns; `dropped`: features that it
  /// leaves out, ascending numbers of those of all columns and pairs. Throws Error: limit_exceeded (more than 2³¹ − 1 features).
  Encoder(std::vector<Column> columns, Missing missing, bool unknown_is_error,
          std::optional<double> label_unit = std::nullopt, std::vector<std::int32_t> dropped = {},
          std::vector<PairTerm> pairs = {});
  Encoder(const Encoder&) = delete;  // the index points into the columns
  Encoder& operator=(const Encoder&) = delete;

  /// Sorted by name.
  const std::vector<Column>& columns() const { return columns_; }
  /// Columns that act together. Their features are behind those of the columns.
  const std::vector<PairTerm>& pairs() const { return pairs_; }
  std::int32_t width() const { return width_; }
  /// A term is a column or, behind these, a pair: what a score adds up, and explanations tell one by one.
  std::size_t terms() const { return columns_.size() + pairs_.size(); }
  const std::string& term_name(std::size_t term) const { return term_names_[term]; }
  /// The number of the term of this name, of a pair with its columns in either order; terms() where there is none.
  std::size_t term(std::string_view name) const;
  /// The first of its features, counted as Column::first, and how many it has.
  struct Span {
    std::int32_t first, count;
  };
  Span span(std::size_t term) const;
  /// The first feature of each term, and width().
  const std::vector<std::int32_t>& starts() const { return starts_; }
  /// Rows are indices and values: few of their features are other than 0.
  bool sparse() const { return sparse_; }
  Missing missing() const { return missing_; }
  /// A category that the training did not have is an error; else it counts as none of the known ones.
  bool unknown_is_error() const { return unknown_is_error_; }
  /// The deviation of the label of a regression, in which lambda and the defaults of epsilon and smoothing are counted.
  std::optional<double> label_unit() const { return label_unit_; }
  /// The names of the features that it leaves out.
  std::vector<std::string> dropped_names() const;
  /// The feature that is number `whole` of all that the columns have (Column::first); −1 where it was dropped.
  std::int32_t feature_of(std::int32_t whole) const;
  /// Every column says how it was spread over the rows of the training.
  bool knows_means() const;
  /// The mean of a feature over these rows, as encode() writes it.
  double mean(std::int32_t feature) const;

  /// Whether encode() has features for a row without a value of this column, and those of the column then, also ones that were
  /// dropped. Of no sparse column: they are all 0 but for the indicator, and the column may state as many as it likes.
  bool takes_null(const Column& column) const;
  std::vector<double> of_null(const Column& column) const;

  /// The number of a category, or of an element of sets; −1 for one that is not known.
  std::int32_t category(std::size_t column, std::string_view name) const;
  /// The error for such a category, where it is to be one.
  void require_known(std::size_t column, std::string_view name) const;

  /// What encode() writes to.
  struct Scratch {
    std::vector<double> values;
    std::vector<std::int32_t> indices;
  };
  /// The features; nothing for a row that is to be skipped. Valid as long as the scratch is left alone. Throws
  /// Error: null_value (a missing value that is to be an error), wrong_dimensions (a block of another length).
  std::optional<FeatureRow> encode(const Cells& cells, Scratch& scratch) const;

  /// `age`, `plan=gold`, `plan IS NULL`, `embedding[3]`.
  std::string feature_name(std::int32_t feature) const;
  /// The term that a feature comes from, and its place among the values of that column, its values() for the
  /// indicator of missing ones, or the cell of that pair.
  struct Place {
    std::size_t column;
    std::int32_t value;
  };
  /// The pair of a place; null where it is a column's.
  const PairTerm* pair(const Place& at) const {
    return at.column < columns_.size() ? nullptr : &pairs_[at.column - columns_.size()];
  }
  Place place(std::int32_t feature) const;
  /// What a feature's number was divided by, and what was subtracted before.
  double scale(std::int32_t feature) const;
  double center(std::int32_t feature) const;

  /// As the attribute `encoder` of a model has it, and back. Throws Error(malformed) naming what is wrong.
  Value::Object to_value() const;
  static std::unique_ptr<const Encoder> from_value(const Value& value);

  /// Bytes of memory, about.
  double bytes() const;

 private:
  class Writer;
  std::int32_t place_of(std::int32_t whole) const;
  Place place_of_whole(std::int32_t whole) const;
  std::string name_at(const Place& at) const;
  std::optional<FeatureRow> encode_numbers(const Cells& cells, Scratch& scratch) const;

  /// What a row needs of a column of one number, side by side.
  struct Slot {
    ColumnKind kind;
    bool missing;
    std::int32_t first;
    double fill, center, inverse;  ///< 1/scale: twenty divisions took half of the time of a prediction
  };

  std::vector<Column> columns_;
  std::vector<std::int32_t> starts_, dropped_;
  std::vector<Slot> slots_;  // of each column
  Missing missing_;
  bool unknown_is_error_;
  std::optional<double> label_unit_;
  bool sparse_ = false;  // rows are written as indices and values
  bool numbers_ = true;  // every column is one number
  std::int32_t width_ = 0;
  std::vector<std::unordered_map<std::string_view, std::int32_t>> index_;  // of the categories of each column
  std::vector<PairTerm> pairs_;
  std::vector<std::string> term_names_;  // of columns, then pairs
};

/// Runs f; an error about features calls them as `encoder` (null: by number) does.
template <class F>
void named_features(const Encoder* encoder, F&& f) {
  if (encoder == nullptr) return f();
  naming_features([=](std::int32_t feature) { return encoder->feature_name(feature); }, std::forward<F>(f));
}

}  // namespace margin
