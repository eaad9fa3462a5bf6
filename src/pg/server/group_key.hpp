// Which group of a query with GROUP BY a message is about. boundary.cpp says it in every WARNING, NOTICE and error of an aggregate.
#pragma once

#include <string>

#include "pg/server/postgres.hpp"

namespace margin::pg {

/// The values that the group of a running aggregate has of the columns of GROUP BY; empty without, and of other functions.
std::string group_key(FunctionCallInfo fcinfo);
/// The same of the function that runs, innermost.
std::string running_group();

/// A text short enough for a message.
std::string shortened_key(const std::string& text);

/// As warn(), of a message that is about the whole statement, or names its group.
void warn_of_statement(const std::string& message, const std::string& hint);

}  // namespace margin::pg
