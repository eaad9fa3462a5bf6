// "May I go on?": how a solve hears of cancellation and limits, and tells its progress.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/options/options.hpp"

namespace margin {

/// What a returned solution means. The certificate is honest in all four cases.
enum class Status {
  optimal,          ///< the certified interval is within the tolerance
  not_separable,    ///< proof in hand: no separator has a margin above the (tiny) upper end
  iteration_limit,  ///< max_iterations, or no further progress in floating point: valid weights, wider interval
  time_limit,       ///< max_seconds passed: valid weights, wider interval
};
std::string_view status_name(Status status);

/// One line of a solve's history: the interval known after an iteration.
struct TracePoint {
  std::int64_t iteration;
  double seconds, lower, upper;
};

/// The outside world. Both may throw (a cancelled query does); solvers are exception-safe.
class Monitor {
 public:
  virtual ~Monitor() = default;
  virtual void poll() {}                                                  ///< called about once a millisecond of work
  virtual void report(std::string_view /*solver*/, const TracePoint&) {}  ///< called once an iteration
};

/// Polls a monitor (null: none) about once a millisecond of work; for passes outside of a solver.
class Poller {
 public:
  explicit Poller(Monitor* monitor) : monitor_(monitor) {}
  /// Say that about `operations` multiply-adds were done.
  void work(double operations) {
    pending_ += operations;
    if (pending_ < 1048576.0) return;
    pending_ = 0;
    if (monitor_ != nullptr) monitor_->poll();
  }

 private:
  Monitor* monitor_;
  double pending_ = 0;
};

/// The bookkeeping that all solvers share: polling, limits, history.
class Run {
 public:
  /// `default_iterations` bounds the solve when the user gave no max_iterations.
  Run(const Options& options, Monitor& monitor, std::string_view solver, std::int64_t default_iterations)
      : monitor_(monitor),
        poller_(&monitor),
        solver_(solver),
        history_(options.history),
        max_iterations_(options.max_iterations.value_or(default_iterations)),
        max_seconds_(options.max_seconds.value_or(0)),
        start_(std::chrono::steady_clock::now()) {}

  /// Say that about `operations` multiply-adds were done; polls at least every 2^20 of them.
  void work(double operations) { poller_.work(operations); }
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  bool out_of_time() const { return max_seconds_ > 0 && seconds() >= max_seconds_; }
  std::int64_t max_iterations() const { return max_iterations_; }
  /// Lower the limit of iterations; it never rises above the user's.
  void limit_iterations(std::int64_t at_most) { max_iterations_ = std::min(max_iterations_, at_most); }
  /// True when iteration number `done` was the last allowed one, or time is up; `why` then says which.
  bool exhausted(std::int64_t done, Status& why) const {
    if (out_of_time()) {
      why = Status::time_limit;
      return true;
    }
    why = Status::iteration_limit;
    return done >= max_iterations_;
  }
  /// Record the interval after an iteration (in user units).
  void record(std::int64_t iteration, double lower, double upper) {
    const TracePoint point{iteration, seconds(), lower, upper};
    if (history_) trace_.push_back(point);
    last_ = point;
    monitor_.poll();
    monitor_.report(solver_, point);
  }
  std::vector<TracePoint> take_trace() { return std::move(trace_); }
  /// What was recorded last, whether a history is kept or not.
  const std::optional<TracePoint>& last() const { return last_; }

 private:
  Monitor& monitor_;
  Poller poller_;
  std::string_view solver_;
  bool history_;
  std::int64_t max_iterations_;
  double max_seconds_;
  std::chrono::steady_clock::time_point start_;
  std::vector<TracePoint> trace_;
  std::optional<TracePoint> last_;
};

}  // namespace margin
