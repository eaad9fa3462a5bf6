// Cancellation, limits, progress: how a long call hears of the outside world and tells it how far it is.
#pragma once

#include <cstdint>
#include <string_view>

namespace margin {

class Threads;  // base/threads.hpp

/// What a returned solution means. The certificate is honest in all cases.
enum class Status {
  optimal,          ///< the certified interval is within the tolerance
  separable,        ///< at lambda 0: proof in hand that weights without bound fit ever better, so that none are best
  not_separable,    ///< proof in hand: no separator has a margin above the (tiny) upper bound
  iteration_limit,  ///< max_iterations, or no further progress in floating point: valid weights, wider interval
  time_limit,       ///< max_seconds passed: valid weights, wider interval
};
std::string_view status_name(Status status);

/// One line of a solve's history: the interval known after an iteration.
struct TracePoint {
  std::int64_t iteration;
  double seconds, lower, upper;
  double step = 0;           ///< of a round of boosting: by what it changed a weight
  std::int64_t learner = 0;  ///< which one, from 1 on; 0: no such round
};

/// Handed down from the caller to every pass over rows. This class hears nothing and tells nobody; the server's
/// overrides poll() and report(), which may throw (a cancelled query does): whoever calls them is exception-safe.
/// All methods are const, so that a temporary serves where nobody listens.
class Progress {
 public:
  Progress() = default;
  explicit Progress(double operations_between_polls, Threads* threads = nullptr)
      : threads_(threads), every_(operations_between_polls) {}
  Progress(const Progress&) = delete;  // a copy would hear nothing
  Progress& operator=(const Progress&) = delete;
  virtual ~Progress() = default;
  virtual void poll() const {}                                                  ///< about once a millisecond of work
  virtual void report(std::string_view /*solver*/, const TracePoint&) const {}  ///< once an iteration

  /// Say that about `operations` multiply-adds were done; polls once in 2^20 of them, or as often as was asked for.
  void work(double operations) const {
    pending_ += operations;
    if (pending_ < every_) return;
    pending_ = 0;
    poll();
  }

  /// What the passes of this call may run on; the caller's thread alone where nobody said otherwise.
  Threads& threads() const;
  double operations_between_polls() const { return every_; }

 protected:
  /// Of a part of a longer call: its threads, and polls as often.
  struct PartOf {
    const Progress& whole;
  };
  explicit Progress(PartOf part) : Progress(part.whole.every_, part.whole.threads_) {}

 private:
  Threads* threads_ = nullptr;
  double every_ = 1048576;
  mutable double pending_ = 0;
};

/// For a part of a longer call: hears a cancel, and keeps to itself how far it is.
class QuietProgress final : public Progress {
 public:
  explicit QuietProgress(const Progress& whole) : Progress(PartOf{whole}), whole_(whole) {}
  void poll() const override { whole_.poll(); }

 private:
  const Progress& whole_;
};

}  // namespace margin
