// What an aggregate is given of a row after its features: [, weight] [, options], which its number and types of arguments tell.
#pragma once

#include "pg/server/boundary.hpp"

namespace margin::pg {

/// Numbers of the arguments of a transition function, whose state is number 0; 0 here: there is none.
struct RowArguments {
  /// `first`: of the one after the features (or after what else every row has).
  RowArguments(FunctionCallInfo fcinfo, int first);

  int weight = 0;   ///< a double precision
  int group = 0;    ///< between both: what rows have in common, a fold or a cluster
  int options = 0;  ///< a jsonb, the last

  /// The weight of this row, 1 without one. Throws Error: null_value, invalid_value (negative or not finite).
  double weight_of(FunctionCallInfo fcinfo) const;
  /// The options, a jsonb without its header; empty: none. Throws Error(null_value).
  std::string_view options_of(FunctionCallInfo fcinfo, const char* hint) const;
};

}  // namespace margin::pg
