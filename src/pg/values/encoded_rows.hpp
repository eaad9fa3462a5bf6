// Rows of a model with an encoder: composite values, and jsonb objects, whose keys are the columns.
#pragma once

#include "pg/values/row_columns.hpp"

namespace margin::pg {

/// Values of the type are jsonb.
bool is_jsonb(Oid type);

/// The columns of an encoder in jsonb objects.
class ObjectRow {
 public:
  /// The values of an object. Keys of no column do not matter. Blocks live in the current memory context. Throws Error: wrong_type
  /// (no object, no such key, a value of another kind), invalid_value, null_value.
  const Cells& read(const Encoder& encoder, Datum jsonb);
  const Cells& cells() const { return cells_; }

 private:
  void find(const Encoder& encoder, Datum jsonb);

  void read_set(const Encoder& encoder, std::size_t j, const JsonbValue& found);

  std::vector<JsonbValue> found_;  // of each column
  std::vector<SetCell> sets_;      // of each column
  Cells cells_;
};

/// Rows as the features of an encoder: for a row that the model skips nothing, else valid until the next call, and as long as the
/// Datum and the current memory context.
class EncodedRows {
 public:
  /// Throws Error.
  std::optional<FeatureRow> read(const Encoder& encoder, const OpenRow& row);
  std::optional<FeatureRow> read_object(const Encoder& encoder, Datum jsonb);
  /// Of the row that was read last.
  const Cells& cells() const { return of_objects_ ? object_.cells() : binding_.cells(); }

 private:
  RowBinding binding_;
  ObjectRow object_;
  bool of_objects_ = false;
  Encoder::Scratch scratch_;
};

}  // namespace margin::pg
