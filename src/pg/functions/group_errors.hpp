// Rows that cannot be trained on, inside of a GROUP BY: which row of which group it is, and the option on_error.
#pragma once

#include "pg/functions/train_agg.hpp"

namespace margin::pg {

/// A row as messages name it. Empty parts are left out.
std::string row_text(const std::string& label, const Row* features);

/// The error with what identifies its row or group as DETAIL, and a word about on_error in the HINT.
Error located(const Error& error, const std::string& where);

/// Of one kind in a statement; what follows is counted, or left out.
constexpr int most_warnings = 5;

/// One object for all groups of a statement: after a few warnings only their number is told, at powers of ten.
class GroupWarnings {
 public:
  void give(const std::string& cause, const std::string& where);

 private:
  std::int64_t groups_ = 0;
};

/// What identifies a group: its size and its first row.
std::string group_text(const CollectedRows& rows);

/// Runs f, which trains. False with a warning, when on_error allows it, where the rows cannot be trained on.
template <class F>
bool attempt(const CollectedRows& rows, GroupWarnings& warnings, F&& f) {
  const std::optional<Error> error = row_error(f);
  if (!error.has_value()) return true;
  if (!rows.null_for_error) throw located(*error, group_text(rows));
  warnings.give(error->message(), group_text(rows));
  return false;
}

}  // namespace margin::pg
