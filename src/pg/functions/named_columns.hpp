// Arguments (..., names jsonb, VARIADIC columns "any"): a row as plain columns and their names, which is how rows travel to other
// servers, and costs no value of the whole row.
#pragma once

#include "pg/values/row_columns.hpp"

namespace margin::pg {

class NamedColumns {
 public:
  /// `names`: the number of that argument; the last but the columns. `function`: for messages.
  NamedColumns(FunctionCallInfo fcinfo, int names, const char* function);

  /// The columns of this call as a row. Throws Error: null_value, invalid_option (no names, or another number of them than of columns).
  const OpenRow& open(FunctionCallInfo fcinfo);

 private:
  void read_names(FunctionCallInfo fcinfo);

  int names_;
  const char* function_;
  bool constant_;
  std::string last_;
  OpenRow row_;
};

}  // namespace margin::pg
