// Statements around a user's query whose functions are called by what they are, not by what they are called: no overload
// that somebody put next to them can take their place.
#pragma once

#include "pg/server/boundary.hpp"

namespace margin::pg {

/// The function of the extension that `caller` is of, by its name and exactly these types of arguments. Throws
/// Error(unsupported) where there is none of the same owner: nobody can give a function of theirs to another.
Oid own_function(Oid caller, const char* name, const std::vector<Oid>& types);

/// The columns of a row that a query selects as a whole, of a table, a view or a subquery: a list of names and one of Vars in
/// its terms. Both NIL where the value is another, or where the row may be NULL as a whole. Only inside of backend().
struct RowColumns {
  List *names, *columns;
};
RowColumns columns_of_row(const Query* query, int column);

/// Which rows an aggregate takes, by a column of integers.
struct RowTest {
  enum class Kind { all, equal, other, less } kind;
  std::int32_t number;
};

/// Aggregates over the rows of a query: aggregate(term(constant, label, features [, weight])); aggregate(term(names, columns...))
/// of a profile; or aggregate(label, features [, weight], constant) where there is no term.
struct ScanCall {
  const char*
      text;  // SELECT 1 FROM (the query) AS r (...), perhaps with GROUP BY: the aggregate takes the place of the 1
  Oid aggregate, term;
  Oid encode;  // of features: encode(encoder, features), or encode(encoder, names, columns...); InvalidOid for none
  Datum encoder;
  Oid constant_type;       // InvalidOid: the call is of a profile
  const Datum* constants;  // one aggregate for each
  int constant_count;
  const RowTest* tests;               // one for each of them, by the column `fold`; null: all rows
  int label, features, weight, fold;  // columns of the query from 1 on; 0 for none
  const char* all_labels;             // of all rows, where there is no column of labels
  Datum names;                        // jsonb, for `columns`
  const char* const* columns;         // of the row of features, in place of it; null: the row itself
  int column_count;
  bool default_weight;  // rows without a weight have the argument 1
  bool label_first;     // of a profile: the label is its first column
  bool complete;        // of a profile: of rows without NULL; with a NULL as label none is taken
  Oid*
      fetched;  // set to a foreign table whose rows come here, rather than what its server makes of them; null: nobody asks
};

/// Runs it, read-only and in the active snapshot: the results row by row, pointers to copies in the current memory context, null for
/// NULL. Only inside of backend().
List* rows_of(const ScanCall& call);

}  // namespace margin::pg
