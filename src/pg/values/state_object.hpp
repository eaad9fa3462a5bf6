// A margin_state while an aggregate is at it: an expanded object of the server's around an Answer, which every row changes
// in place. Whoever stores or sends it gets its bytes.
#pragma once

#include "pg/server/boundary.hpp"

namespace margin::pg {

/// The answer behind a margin_state for a function that may be a step of an aggregate, (state, ...) -> state.
class StateArgument {
 public:
  /// Argument 0 of the running function; NULL is an answer without rows.
  explicit StateArgument(FunctionCallInfo fcinfo);
  StateArgument(const StateArgument&) = delete;
  StateArgument& operator=(const StateArgument&) = delete;

  Answer& answer() { return *answer_; }
  /// The state for the next step: of an aggregate the same object, otherwise a value.
  Datum result();

 private:
  Answer own_;
  Answer* answer_ = &own_;
  Datum object_ = 0;  // of an aggregate
};

/// Merges a margin_state into an answer.
void merge_state(Datum state, Answer& into, const Progress& progress);

}  // namespace margin::pg
