// What the server makes of a query for scans, and which of its columns is what.
#pragma once

#include "pg/server/scan_call.hpp"

namespace margin::pg {

/// What the server makes of the user's text, in memory of the caller's context.
struct Analysis {
  int statements, begin, length;  // of the text of the first one, without a semicolon
  const char* command;
  bool select, writes, locks;
  int columns;
  const char** names;
  Oid* types;
  RowColumns* rows;     // of each column
  const char* servers;  // "one, two": of its foreign tables
  Datum explained;      // jsonb of EXPLAIN; 0: the plan is all PostgreSQL's own
};

/// Parsed, analysed and planned, not run. Throws what the server says of it.
Analysis analysis_of(const char* query);
/// What is selected beside features and, perhaps, weight.
enum class Beside { label, label_and_fold, nothing };

/// Throws Error(invalid_option) for all but one SELECT that only reads.
void require_one_select(const Analysis& a, Beside beside);

enum Role { label, features, weight, shard, fold, roles };
constexpr const char* role_names[roles] = {"label", "features", "weight", "shard", "fold"};
struct QueryColumns {
  int of[roles] = {-1, -1, -1, -1, -1};
};

/// By name, else by position, but a column of folds by its name alone. Throws Error: invalid_option, wrong_type.
QueryColumns columns_of(const Analysis& a, const std::string& shard_name, Beside beside);
/// Of how many tasks on other servers the query consists, as EXPLAIN tells it of an engine of shards; 1 for none.
std::int32_t tasks_of(const Analysis& a);
/// Of a type whose cast to double precision is the server's own. Throws Error(wrong_type).
void require_number(const Analysis& a, int column, Beside beside);

}  // namespace margin::pg
