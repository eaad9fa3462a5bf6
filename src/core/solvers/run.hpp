// The bookkeeping of a solve: its limits, its history, its clock.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

#include "core/base/progress.hpp"
#include "core/options/options.hpp"

namespace margin {

class Run {
 public:
  /// `default_iterations` bounds the solve when the user gave no max_iterations.
  Run(const Options& options, const Progress& progress, std::string_view solver, std::int64_t default_iterations)
      : progress_(progress),
        solver_(solver),
        history_(options.history),
        max_iterations_(options.max_iterations.value_or(default_iterations)),
        max_seconds_(options.max_seconds.value_or(0)),
        start_(std::chrono::steady_clock::now()) {}

  /// What passes over the rows report to.
  const Progress& progress() const { return progress_; }
  operator const Progress&() const { return progress_; }
  void work(double operations) const { progress_.work(operations); }
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
  void record(std::int64_t iteration, double lower, double upper, double step = 0, std::int64_t learner = 0) {
    const TracePoint point{iteration, seconds(), std::min(lower, upper),
                           upper,     step,      learner};  // rounding may cross them
    if (history_) trace_.push_back(point);
    last_ = point;
    progress_.poll();
    progress_.report(solver_, point);
  }
  std::vector<TracePoint> take_trace() { return std::move(trace_); }
  /// What was recorded last, whether a history is kept or not.
  const std::optional<TracePoint>& last() const { return last_; }

 private:
  const Progress& progress_;
  std::string_view solver_;
  bool history_;
  std::int64_t max_iterations_;
  double max_seconds_;
  std::chrono::steady_clock::time_point start_;
  std::vector<TracePoint> trace_;
  std::optional<TracePoint> last_;
};

}  // namespace margin
