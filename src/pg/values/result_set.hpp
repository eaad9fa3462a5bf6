// The rows that a set-returning function gives back.
#pragma once

#include "pg/server/boundary.hpp"

namespace margin::pg {

/// The result set of the running function, filled at once.
class ResultSet {
 public:
  explicit ResultSet(FunctionCallInfo fcinfo);

  /// One row: as many values as the function has columns, nothing for NULL.
  void add(const std::vector<std::optional<Datum>>& values);

 private:
  Tuplestorestate* store_;
  TupleDesc descriptor_;
  std::vector<Datum> values_;
  std::vector<char> nulls_;
};

}  // namespace margin::pg
