// Features: an array Datum as a row of numbers. Adding an input type = one reader in features.cpp.
#pragma once

#include "boundary.hpp"

namespace margin::pg {

/// Reads feature arrays of one type, chosen once per query.
class FeatureReader {
 public:
  /// Throws Error(wrong_type) for a type without a reader.
  explicit FeatureReader(Oid type);

  /// The row, dense, in memory of the Datum or of the current memory context: valid while both live. Not checked
  /// for NaN and infinity. Throws Error: null_value (an element is NULL), wrong_dimensions (not a 1-D array).
  Row read(Datum value) const { return read_(value); }

 private:
  Row (*read_)(Datum);
};

/// Throws Error(invalid_value) naming the first feature that is not a finite number, if there is one.
void require_finite(const Row& x);

/// Append to `data` in the precision of the row.
inline void append(Dataset& data, const Row& x, double outcome, double weight) {
  if (x.wide)
    data.append(x.doubles(), x.count, outcome, weight);
  else
    data.append(x.floats(), x.count, outcome, weight);
}

}  // namespace margin::pg
