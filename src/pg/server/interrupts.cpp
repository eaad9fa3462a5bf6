#include "pg/server/interrupts.hpp"

#include "pg/server/poll_trace.hpp"
#include "pg/server/spill.hpp"

extern "C" {
#include <access/parallel.h>
#include <optimizer/cost.h>
#include <storage/ipc.h>
}

namespace margin::pg {

namespace {
int level_of(const std::string& name) {
  if (name.empty()) return guc_log_level;
  if (name == "debug1") return DEBUG1;
  if (name == "log") return LOG;
  if (name == "info") return INFO;
  if (name == "notice") return NOTICE;
  return 0;
}

int threads_of_session() {
  if (IsParallelWorker()) return 1;  // its leader has counted it already
  if (guc_threads > 0) return guc_threads;
  if (max_parallel_workers_per_gather == 0) return 1;
  static const int processors = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return std::min(max_parallel_workers_per_gather + 1, processors);
}

}  // namespace

// A session that is terminated exits in the middle of a poll: no frame is unwound, and what threads work on goes first.
void SessionThreads::exits(int, Datum) {
  for (SessionThreads* t = first(); t != nullptr; t = t->next()) t->threads_.end();
}

SessionThreads::SessionThreads() : threads_(threads_of_session()) {
  static const bool registered = [] {
    backend([] { before_shmem_exit(&SessionThreads::exits, 0); });
    return true;
  }();
  (void)registered;
}

SessionProgress::SessionProgress(const std::string& level, bool hard_margin, Clock::time_point& last_line)
    : level_(level_of(level)), hard_margin_(hard_margin), last_line_(last_line) {}

// Interrupts that do not cancel (barriers, requests to log memory) are served too, and training goes on.
void InterruptProgress::poll() const {
  require_session_thread();
  if (guc_poll_trace > 0) trace_poll();
  trim_spilled_rows();
  if (InterruptPending) backend([] { CHECK_FOR_INTERRUPTS(); });
}

void SessionProgress::report(std::string_view solver, const TracePoint& point) const {
  if (level_ == 0) return;
  const Clock::time_point now = Clock::now();
  if (last_line_ != Clock::time_point{} && now - last_line_ < std::chrono::seconds(1)) return;
  last_line_ = now;
  const int level = level_, size = static_cast<int>(solver.size());
  const char* name = solver.data();
  const char* what = hard_margin_ ? "margin" : "objective";
  const TracePoint p = point;
  backend([=] {
    ereport(level, (errmsg("margin: %.*s: iteration %lld, %s in [%.6g, %.6g]", size, name,
                           static_cast<long long>(p.iteration), what, p.lower, p.upper)));
  });
}

void SessionProgress::scan(std::int64_t number, std::int64_t rows, double seconds) const {
  if (level_ == 0) return;
  const int level = level_;
  backend([=] {
    ereport(level, (errmsg("margin: scan %lld: %lld rows in %.3f s", static_cast<long long>(number),
                           static_cast<long long>(rows), seconds)));
  });
}

}  // namespace margin::pg
