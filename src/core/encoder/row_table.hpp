// The rows of a training whose features are columns with names. What their features are, categories and means, is known
// only once all rows are: until then cells are kept as they came, as rows of a data set that may go to a file.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <memory_resource>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/memory_limit.hpp"
#include "core/base/progress.hpp"
#include "core/data/dataset.hpp"
#include "core/encoder/encoder.hpp"

namespace margin {

/// The categories of one column in the order in which they come.
class CategoryTable {
 public:
  explicit CategoryTable(std::pmr::memory_resource* memory) : names_(memory), index_(memory) {}
  /// The categories whose `used` is not 0 alone, by the numbers that they have in `all`; none comes to them.
  CategoryTable(const CategoryTable& all, std::vector<char> used) : names_(all.names_), used_(std::move(used)) {}
  /// The number of a category, given when it is new; −1 when it would be one more than `most`.
  std::int32_t intern(std::string_view name, std::int32_t most);
  std::int32_t size() const { return static_cast<std::int32_t>(names_.size()); }
  bool has(std::string_view name) const;
  std::string_view name(std::int32_t number) const { return names_[static_cast<std::size_t>(number)]; }
  /// Sorted by bytes, and the place of each number there; −1 of one that is not used.
  std::vector<std::string> sorted(std::vector<double>& rank) const;

 private:
  std::pmr::deque<std::pmr::string> names_;  // which stay where they are
  std::pmr::unordered_map<std::string_view, std::int32_t> index_;
  std::vector<char> used_;  // empty: all are
};

class RowTable {
 public:
  /// `columns`: names, types and kinds, sorted by name. Labels, weights and cells go to `rows`, which is empty and
  /// outlives the table; blocks and categories to `memory`.
  RowTable(std::vector<Column> columns, const EncoderRules& rules, Dataset& rows, std::pmr::memory_resource* memory);
  /// These rows of `all`, which outlives them: what fit() says is of them alone. Shares the cells and takes no more rows. `rules`: in
  /// place of those of `all`, but for references to categories that none of the rows has.
  RowTable(const RowTable& all, const std::vector<std::int64_t>& rows, EncoderRules rules, const Progress& progress);
  RowTable(const RowTable&) = delete;
  RowTable& operator=(const RowTable&) = delete;

  const std::vector<Column>& columns() const { return columns_; }
  const EncoderRules& rules() const { return rules_; }
  /// The cell of a category. Throws Error(invalid_value) beyond max_categories.
  double category(std::size_t column, std::string_view name);
  /// False for a row that the option `missing` leaves out. Throws Error as Dataset::append; null_value for missing cells
  /// where they are to be errors; wrong_dimensions for a block of another length.
  bool append(const Cells& cells, const Label& label, double weight);

  /// A column that tells the label of every row, one to one; for numbers as labels: that rises with them, or falls, from
  /// every row to every other. Most probably it is the label. Empty for none, or few rows.
  std::string_view label_column(const Progress& progress) const;

  /// What all rows say of the columns, whatever order they came in. Throws Error: invalid_option (a reference that there is
  /// not), limit_exceeded (memory, where collinear features are to be dropped, and of the
  /// numbers of one column, which bins ask for).
  std::shared_ptr<const Encoder> fit(const Progress& progress, MemoryBudget& memory) const;
  std::shared_ptr<const Encoder> fit(const Progress& progress) const {
    MemoryBudget unlimited;
    return fit(progress, unlimited);
  }
  /// Columns of an encoder that fit() made, each number cut into bins, to make pairs of; `memory` as in fit().
  std::vector<Column> cut_columns(const Encoder& encoder, const Progress& progress, const MemoryBudget& memory) const;
  /// The same encoder and pairs of its columns, cut by cut_columns().
  std::shared_ptr<const Encoder> with_pairs(const Encoder& encoder, const std::vector<Column>& cut,
                                            const std::vector<ColumnPair>& pairs, const Progress& progress) const;
  /// f(number of the row, its cells in the order of the columns).
  void for_each_row(const Progress& progress, const std::function<void(std::int64_t, const Cells&)>& f) const;
  /// The rows as `encoder`, which fit() made of these or some of them, has them. `memory` counts them; where it does not allow them they go to
  /// the store of the rows, and without one Error(limit_exceeded) is thrown. `codes`: as codes where the encoder has any, memory
  /// allows them, and rows are not fewer than features.
  std::unique_ptr<Dataset> encode(const Encoder& encoder, const Progress& progress, MemoryBudget& memory,
                                  bool codes = false) const;

 private:
  class CellReader;
  std::int32_t cell_width() const;
  std::vector<std::vector<double>> ranks_in(const Encoder& encoder) const;
  std::unique_ptr<Dataset> encode_codes(const Encoder& encoder, const Progress& progress, MemoryBudget& memory) const;
  bool tells(std::size_t column, double cell, const Label& label);
  bool rises_with_label(std::size_t column, const Progress& progress) const;
  void fit_scalars(std::vector<Column>& columns, const Progress& progress) const;
  void fit_categories(std::vector<Column>& columns, const Progress& progress) const;
  void fit_bins(std::vector<Column>& columns, const Bins& bins, const Progress& progress,
                const MemoryBudget& memory) const;
  void fit_bins(Column& column, std::size_t j, std::vector<double>& numbers, int bins, const Progress& progress) const;
  void fit_sparse(Column& column, std::size_t j, const Progress& progress) const;
  std::optional<double> label_unit(const std::vector<Column>& columns, const Progress& progress) const;
  void fit_block(Column& column, std::size_t j, const Progress& progress) const;

  std::vector<Column> columns_;  // `missing`: of the rows so far
  EncoderRules rules_;
  std::optional<Dataset> part_;  // of the rows of another table
  Dataset& rows_;
  std::vector<CategoryTable> categories_;
  std::vector<std::unique_ptr<Dataset>> blocks_;  // of each column, null for others
  std::vector<double> largest_;                   // |cell| of each column
  double largest_weight_ = 0;
  std::vector<std::size_t> leaks_label_;   // columns that tell the labels of the rows so far
  std::vector<std::vector<double>> told_;  // the cell of each class in each of them; NaN: not met
  /// How a column goes with labels that are numbers: rising with them or falling, so far, beside a few rows.
  struct Going {
    int direction = 0;
    std::vector<std::pair<double, double>> met = {};  // cell and label
    bool goes_on(double cell, double label);
  };
  std::vector<Going> going_;
  std::vector<double> written_;  // scratch of one row
};

}  // namespace margin
