// Features: a Datum as a row of numbers. Adding an input type = one reader in values/features.cpp, or in
// values/sparse_datum.cpp for a type of an extension.
#pragma once

#include "pg/values/encoded_rows.hpp"

namespace margin::pg {

/// Values of the type are rows with named columns.
bool is_row(Oid type);

/// The reader of an array type; null for another type.
FeatureRowReader array_reader(Oid type);

/// Reads features of one type, chosen once per query.
class FeatureReader {
 public:
  /// The argument `number` of the running function. Throws Error(wrong_type) for a type without a reader.
  FeatureReader(FunctionCallInfo fcinfo, int number);

  /// The features are rows with named columns, which open() takes apart; else read() reads them.
  bool of_rows() const { return rows_.has_value(); }
  const OpenRow& open(Datum value) { return rows_->open(value); }

  /// The features are jsonb objects, which a model with an encoder takes as rows; read() refuses them.
  bool of_objects() const { return of_objects_; }
  /// The features have named columns, which encoded() reads.
  bool named() const { return of_rows() || of_objects(); }
  std::optional<FeatureRow> encoded(const Encoder& encoder, EncodedRows& rows, Datum value) {
    return of_objects_ ? rows.read_object(encoder, value) : rows.read(encoder, open(value));
  }

  /// The row, in memory of the Datum or of the current memory context: valid while both live. Not checked for NaN and
  /// infinity. Throws Error: null_value (an element is NULL), wrong_dimensions (not a 1-D array), malformed_binary.
  FeatureRow read(Datum value) const { return read_(value); }

 private:
  FeatureRow (*read_)(Datum);
  std::optional<RowOpener> rows_;
  bool of_objects_ = false;
};

/// Features as a model takes them: arrays as they are, rows and jsonb objects by its encoder.
class ModelRows {
 public:
  /// Nothing for a row that the model skips. Valid as long as FeatureReader::read, and until the next call. Throws
  /// Error(wrong_type) for a row where the model was trained on arrays, or the other way round.
  std::optional<FeatureRow> read(const Model& model, FeatureReader& reader, Datum value) {
    if (!reader.named() && model.encoder == nullptr) return reader.read(value);
    require_form(model, reader);
    return reader.encoded(*model.encoder, rows_, value);
  }

  /// Of the row that was read last, by a model with an encoder.
  const Cells& cells() const { return rows_.cells(); }

 private:
  static void require_form(const Model& model, const FeatureReader& reader);
  EncodedRows rows_;
};

/// Asks for the cache lines of a row, and of the row that a scan will probably come to next: rows of a page lie one
/// after the other at a constant distance. Waiting for them was two thirds of the time of predicting 54 features.
class RowPrefetch {
 public:
  void follow(const Row& x) {
    const auto at = reinterpret_cast<std::uintptr_t>(x.values);
    const auto step = static_cast<std::intptr_t>(at - last_);
    last_ = at;
    prefetch(x);
    // A prefetch never faults, so a wrong guess costs nothing but itself.
    if (step > -BLCKSZ && step < BLCKSZ)
      prefetch({reinterpret_cast<const void*>(at + static_cast<std::uintptr_t>(step)), nullptr, x.count, x.wide});
  }

 private:
  std::uintptr_t last_ = 0;
};

}  // namespace margin::pg
