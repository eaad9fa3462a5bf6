// Rows with named columns, as composite Datums: which columns they have, and how the value of each is read.
#pragma once

#include <functional>

#include "core/encoder/set_cell.hpp"
#include "pg/values/labels.hpp"
#include "pg/values/sparse_datum.hpp"

namespace margin::pg {

/// A row taken apart. Values are those of the Datum: valid while it lives.
struct OpenRow {
  struct Attribute {
    std::string name;
    Oid type;
    std::size_t at;  // of values and nulls
  };
  std::uint64_t layout = 0;  ///< equal for rows of equal columns
  std::vector<Attribute> attributes;
  std::vector<Datum> values;
  std::vector<char> nulls;
};

/// Takes rows apart. Their columns are looked up again only when they change, which ALTER TABLE may have them do
/// between two rows of one call site.
class RowOpener {
 public:
  /// Keeps what it knows in `context`.
  explicit RowOpener(MemoryContext context) : context_(context) {}
  const OpenRow& open(Datum composite);

 private:
  MemoryContext context_;
  TupleDesc descriptor_ = nullptr;
  OpenRow row_;
};

/// How the values of one type are read.
struct CellType {
  ColumnKind kind;
  double (*number)(Datum) = nullptr;     ///< of scalars
  FeatureRowReader block = nullptr;      ///< of arrays and vectors
  std::optional<LabelReader> text = {};  ///< of categories, but uuids
  Oid element = InvalidOid;              ///< of sets, with the reader of their elements; none of a tsvector
};
/// Nothing for a type that cannot be features.
std::optional<CellType> cell_type_of(Oid type);
/// A category, in memory of the Datum or of the current memory context.
std::string_view text_of(const CellType& type, Datum value);
/// f(text) of each element of a set, a text array or tsvector, in any order, some more than once. Throws Error: wrong_dimensions
/// (an array of several dimensions), null_value (an element is NULL).
void for_each_element(const std::string& column, const CellType& type, Datum value,
                      const std::function<void(std::string_view)>& f);
/// The error for an element that is NULL.
Error null_element(const std::string& column);

/// The columns of a training on such rows, sorted by name, without those that are excluded or not included. Throws Error:
/// wrong_type (a column of another type, two of one name, none left), invalid_option (a column that there is not).
std::vector<Column> training_columns(const OpenRow& row, const EncoderRules& rules);

/// The error for a column of a model, one of `columns`, that what it is given has not, among the `names` that it has; for messages,
/// `row` is what that is, and `part` what it calls its columns.
Error absent_column(const std::string& column, const std::vector<Column>& columns,
                    const std::vector<std::string_view>& names, const std::string& row, const std::string& part,
                    const std::string& hint);
/// The error for a number that is not finite.
Error infinite_number(const Column& column, double value);

/// The block that f reads, finite; an error about its elements names the column.
template <class F>
FeatureRow block_of(const Column& column, F&& f) {
  FeatureRow x{};
  const auto error = row_error([&] {
    x = f();
    require_finite(x, "WHERE");
  });
  if (error.has_value())
    throw Error(error->kind(), "column \"" + column.name + "\": " + error->message(), error->hint(), error->detail());
  return x;
}

/// The columns of an encoder, or of a training, in rows of one layout.
class RowBinding {
 public:
  /// Throws Error(wrong_type): a column is not there, or of a type of another kind.
  void bind(const std::vector<Column>& columns, const OpenRow& row);
  bool bound_to(const OpenRow& row) const { return layout_ == row.layout; }
  const Cells& cells() const { return cells_; }

  /// The row by these columns; category(j, text) is the cell of a category, and the number of an element. Blocks live here, in the Datum or the current
  /// memory context. Throws Error: invalid_value, null_value, wrong_dimensions.
  template <class Category>
  const Cells& read(const std::vector<Column>& columns, const OpenRow& row, Category&& category) {
    for (std::size_t j = 0; j < bound_.size(); ++j) {
      const Bound& b = bound_[j];
      double& cell = cells_.values[j];
      if (b.at == absent || row.nulls[b.at] != 0) {
        cell = std::numeric_limits<double>::quiet_NaN();
        continue;
      }
      const Datum value = row.values[b.at];
      if (b.type.number != nullptr) {
        cell = b.type.number(value);
        if (!std::isfinite(cell)) throw infinite_number(columns[j], cell);
      } else if (b.type.block != nullptr) {
        cell = 0;
        cells_.blocks[j] = block_of(columns[j], [&] { return b.type.block(value); });
      } else if (b.type.kind == ColumnKind::set) {
        cell = 0;
        SetCell& set = sets_[j];
        set.clear();
        for_each_element(columns[j].name, b.type, value,
                         [&](std::string_view text) { set.add(static_cast<std::int32_t>(category(j, text))); });
        cells_.blocks[j] = set.row();
      } else {
        cell = category(j, text_of(b.type, value));
      }
    }
    return cells_;
  }

 private:
  static constexpr auto absent = static_cast<std::size_t>(-1);  // a column that no weight is of
  struct Bound {
    std::size_t at;
    CellType type;
  };

  std::uint64_t layout_ = 0;
  std::vector<Bound> bound_;
  std::vector<SetCell> sets_;  // of each column
  Cells cells_;
};

}  // namespace margin::pg
