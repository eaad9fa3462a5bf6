// Statements around a user's query whose functions are called by what they are, not by what they are called: no overload
// that somebody put next to them can take their place.
#pragma once

#include "pg/server/boundary.hpp"

namespace margin::pg {

/// The function of the extension that `caller` is of, by its name and exactly these types of arguments. Throws
/// Error(unsupported) where there is none of the same owner: nobody can give a function of theirs to another.
Oid own_function(Oid caller, const char* name, const std::vector<Oid>& types);

/// One aggregate over the rows of a query: aggregate(term(constant, label, features [, weight])), or
/// aggregate(label, features [, weight], constant) where there is no term.
struct ScanCall {
  const char*
      text;  // SELECT 1 FROM (the query) AS r (...), perhaps with GROUP BY: the aggregate takes the place of the 1
  Oid aggregate, term;
  Oid encode;  // of features: encode(encoder, features); InvalidOid for none
  Datum encoder;
  Oid constant_type;
  Datum constant;
  int label, features, weight;  // columns of the query from 1 on; 0 for no weight
};

/// Runs it, read-only and in the active snapshot: the results that are not NULL, pointers to copies in the current
/// memory context. Only inside of backend().
List* rows_of(const ScanCall& call);

}  // namespace margin::pg
