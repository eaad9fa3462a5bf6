// How a running solve reaches the session: cancellation and progress lines.
#pragma once

#include "pg/server/boundary.hpp"
#include "pg/server/linked.hpp"
#include "pg/server/spill.hpp"

namespace margin::pg {

/// Serves the session's interrupts, and keeps spilled rows out of memory.
class InterruptProgress : public Progress {
 public:
  /// Where rows may spill, polls come oftener: a visit to a row brings sixteen pages or more with it.
  explicit InterruptProgress(Threads* threads = nullptr) : Progress(guc_memory_limit < 0 ? 1048576 : 32768, threads) {}
  void poll() const override;
  /// The same for each of many rows: only where there is something to do.
  void poll_at_row() const {
    if (InterruptPending || guc_poll_trace > 0 || rows_are_spilled()) poll();
  }
};

/// The threads of one training, or of one call site of a query, as many as the session allows (margin.threads). They end
/// with it, and before the process does.
class SessionThreads : public Linked<SessionThreads> {
 public:
  SessionThreads();
  Threads& get() { return threads_; }

 private:
  static void exits(int code, Datum);

  Threads threads_;
};

/// Serves interrupts in a call that is worth more threads than one.
class ThreadedProgress : private SessionThreads, public InterruptProgress {
 public:
  ThreadedProgress() : InterruptProgress(&get()) {}
};

/// The same, and reports at most one line a second.
class SessionProgress final : public ThreadedProgress {
 public:
  using Clock = std::chrono::steady_clock;

  /// `level`: the option log_level, empty for the session's margin.log_level. `last_line` is kept by the caller
  /// across the groups of a query; the epoch means that there was none.
  SessionProgress(const std::string& level, bool hard_margin, Clock::time_point& last_line);

  void report(std::string_view solver, const TracePoint& point) const override;
  /// A scan of all rows has ended: a line for each.
  void scan(std::int64_t number, std::int64_t rows, double seconds) const;

 private:
  int level_;
  bool hard_margin_;
  Clock::time_point& last_line_;
};

}  // namespace margin::pg
