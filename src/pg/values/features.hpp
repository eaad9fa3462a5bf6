// Features: a Datum as a row of numbers. Adding an input type = one reader in values/features.cpp, or in
// values/sparse_datum.cpp for a type of an extension.
#pragma once

#include "pg/server/boundary.hpp"

namespace margin::pg {

/// Reads features of one type, chosen once per query.
class FeatureReader {
 public:
  /// The argument `number` of the running function. Throws Error(wrong_type) for a type without a reader.
  FeatureReader(FunctionCallInfo fcinfo, int number);

  /// The row, in memory of the Datum or of the current memory context: valid while both live. Not checked for NaN and
  /// infinity. Throws Error: null_value (an element is NULL), wrong_dimensions (not a 1-D array), malformed_binary.
  FeatureRow read(Datum value) const { return read_(value); }

 private:
  FeatureRow (*read_)(Datum);
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
