// The setting margin.poll_trace: who keeps a cancel waiting. While it is on, the CPU time between two looks at the session's
// interrupts, less what the kernel takes to hand out pages, is measured inside every SQL function, and a longer stretch than
// it allows is written to the server's log with the stacks at both of its ends.
#pragma once

#include "pg/server/boundary.hpp"

namespace margin::pg {

/// Around the body of an SQL function: its stretches begin and end here. `function`: a string literal.
class TracedCall {
 public:
  explicit TracedCall(const char* function) : function_(function), outer_(traced) {
    if (guc_poll_trace > 0 && outer_ == nullptr) begin();
  }
  ~TracedCall() { traced = outer_; }
  TracedCall(const TracedCall&) = delete;
  TracedCall& operator=(const TracedCall&) = delete;

  /// The longest stretch was too long: one line in the log. May raise an error, hence not in the destructor.
  void report() {
    if (outer_ == nullptr && traced != nullptr) end();
  }
  static bool any() { return traced != nullptr; }

 private:
  void begin();
  void end();

  static const char* traced;  // the function whose stretches are measured; calls inside of it are a part of it
  const char* function_;
  const char* outer_;
};

/// Called by InterruptProgress::poll() while the trace is on.
void trace_poll();

/// After a statement that the server ran inside of the function: its time is not the function's.
void trace_others();

}  // namespace margin::pg
