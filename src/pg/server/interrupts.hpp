// How a running solve reaches the session: cancellation and progress lines.
#pragma once

#include "pg/server/boundary.hpp"

namespace margin::pg {

/// Serves the session's interrupts.
class InterruptMonitor : public Monitor {
 public:
  void poll() override;
};

/// The same, and reports at most one line a second.
class SessionMonitor final : public InterruptMonitor {
 public:
  using Clock = std::chrono::steady_clock;

  /// `level`: the option log_level, empty for the session's margin.log_level. `last_line` is kept by the caller
  /// across the groups of a query; the epoch means that there was none.
  SessionMonitor(const std::string& level, bool hard_margin, Clock::time_point& last_line);

  void report(std::string_view solver, const TracePoint& point) override;

 private:
  int level_;
  bool hard_margin_;
  Clock::time_point& last_line_;
};

}  // namespace margin::pg
