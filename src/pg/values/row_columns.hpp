// Rows with named columns, as composite Datums: which columns they have, and how the value of each is read.
#pragma once

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
};
/// Nothing for a type that cannot be features.
std::optional<CellType> cell_type_of(Oid type);

/// The columns of a training on such rows, sorted by name, without those that are excluded. Throws Error: wrong_type
/// (a column of another type, two of one name, none left), invalid_option (an excluded column that there is not).
std::vector<Column> training_columns(const OpenRow& row, const std::vector<std::string>& exclude);

/// The columns of an encoder, or of a training, in rows of one layout.
class RowBinding {
 public:
  /// Throws Error(wrong_type): a column is not there, or of a type of another kind.
  void bind(const std::vector<Column>& columns, const OpenRow& row);
  bool bound_to(const OpenRow& row) const { return layout_ == row.layout; }
  const Cells& cells() const { return cells_; }

  /// The row by these columns; category(j, text) is the cell of a category. Blocks live in the Datum or the current
  /// memory context. Throws Error: invalid_value, null_value, wrong_dimensions.
  template <class Category>
  const Cells& read(const std::vector<Column>& columns, const OpenRow& row, Category&& category) {
    for (std::size_t j = 0; j < bound_.size(); ++j) {
      const Bound& b = bound_[j];
      double& cell = cells_.values[j];
      if (row.nulls[b.at] != 0) {
        cell = std::numeric_limits<double>::quiet_NaN();
        continue;
      }
      const Datum value = row.values[b.at];
      if (b.type.number != nullptr) {
        cell = b.type.number(value);
        if (!std::isfinite(cell)) refuse_number(columns[j], cell);
      } else if (b.type.block != nullptr) {
        cell = 0;
        cells_.blocks[j] = read_block(columns[j], b.type, value);
      } else {
        cell = category(j, text_of(b.type, value));
      }
    }
    return cells_;
  }

 private:
  struct Bound {
    std::size_t at;
    CellType type;
  };
  [[noreturn]] static void refuse_number(const Column& column, double value);
  static FeatureRow read_block(const Column& column, const CellType& type, Datum value);
  static std::string_view text_of(const CellType& type, Datum value);

  std::uint64_t layout_ = 0;
  std::vector<Bound> bound_;
  Cells cells_;
};

/// Rows of a model with an encoder, as its features.
class EncodedRows {
 public:
  /// Nothing for a row that the model skips. Valid until the next call, and as long as the Datum and the current memory
  /// context. Throws Error.
  std::optional<FeatureRow> read(const Encoder& encoder, const OpenRow& row);
  /// Of the row that was read last.
  const Cells& cells() const { return binding_.cells(); }

 private:
  RowBinding binding_;
  Encoder::Scratch scratch_;
};

}  // namespace margin::pg
