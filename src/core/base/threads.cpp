#include "core/base/threads.hpp"

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace margin {

namespace {

/// Leaves a chunk whose run is over. No std::exception: nobody else is to catch it.
struct Stopped {};

constexpr auto longest_wait = std::chrono::milliseconds(10);  // between two polls of a caller that waits
// How long a thread looks for the next run before it sleeps, and the caller for the end of one: runs follow each other
// within microseconds, and waking a thread takes tens of them.
constexpr auto patience = std::chrono::microseconds(50);
constexpr std::size_t no_chunk = std::numeric_limits<std::size_t>::max();

/// True as soon as done() is; false when patience is over before.
template <class Done>
bool spin_until(Done&& done) {
  const auto end = std::chrono::steady_clock::now() + patience;
  do {
    for (int k = 0; k < 32; ++k) {
      if (done()) return true;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

/// While it lives, new threads of this one start with all signals blocked: they go to the thread that knows what to do.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

Threads& Progress::threads() const { return threads_ != nullptr ? *threads_ : Threads::single(); }

/// One run. Chunks are handed out in order, so that all below one that failed have begun, and end by themselves: which
/// error is the lowest does not depend on the threads.
struct Threads::Job {
  Job(std::size_t all, const Progress& whole, const Work& what) : chunks(all), progress(whole), work(what) {}

  const std::size_t chunks;
  const Progress& progress;
  const Work& work;
  std::atomic<std::size_t> next{0};
  std::atomic<std::size_t> stop_at{no_chunk};  // this chunk and those above it are not wanted any more
  std::atomic<int> helpers{0};                 // changes under the pool's mutex, as what follows
  std::size_t failed = no_chunk;
  std::exception_ptr error, heard;  // of the lowest chunk that failed; of a poll

  bool exhausted() const { return next.load() >= std::min(chunks, stop_at.load()); }
  void stop(std::size_t at) {
    std::size_t before = stop_at.load();
    while (at < before && !stop_at.compare_exchange_weak(before, at)) {
    }
  }
};

/// What a chunk reports to.
class Threads::ChunkProgress final : public Progress {
 public:
  ChunkProgress(Job& job, std::size_t chunk, bool of_caller)
      : Progress(job.progress.operations_between_polls()), job_(job), chunk_(chunk), of_caller_(of_caller) {}
  void poll() const override {
    if (of_caller_) listen(job_);
    if (chunk_ >= job_.stop_at.load(std::memory_order_relaxed)) throw Stopped{};
  }
  /// On the caller's thread: what the caller's poll throws ends the run.
  static void listen(Job& job) {
    try {
      job.progress.poll();
    } catch (...) {
      job.heard = std::current_exception();
      job.stop(0);
      throw;
    }
  }

 private:
  Job& job_;
  std::size_t chunk_;
  bool of_caller_;
};

class Threads::Pool {
 public:
  explicit Pool(int count) {
    const SignalsBlocked blocked;
    try {
      workers_.reserve(static_cast<std::size_t>(count - 1));
      while (static_cast<int>(workers_.size()) < count - 1) workers_.emplace_back([this] { serve(); });
    } catch (const std::system_error&) {  // the system gives no more threads, or has no memory for them
    } catch (const std::bad_alloc&) {
    }
  }
  ~Pool() { end(); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  bool busy() const { return job_ != nullptr || workers_.empty(); }

  void run(Job& job) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      job_ = &job;
      runs_.fetch_add(1);
    }
    wake_.notify_all();
    take(job, true);
    spin_until([&] { return job.helpers.load() == 0; });
    std::unique_lock<std::mutex> lock(mutex_);
    while (job.helpers > 0) {
      if (done_.wait_for(lock, longest_wait, [&] { return job.helpers == 0; })) break;
      lock.unlock();
      if (job.heard == nullptr) {
        try {
          ChunkProgress::listen(job);
        } catch (...) {  // is kept in the job, whose chunks have to end first
        }
      }
      lock.lock();
    }
    job_ = nullptr;
  }

  void end() noexcept {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ending_ = true;
      if (job_ != nullptr) job_->stop(0);
      runs_.fetch_add(1);
    }
    wake_.notify_all();
    for (std::thread& t : workers_)
      if (t.joinable()) t.join();
  }

 private:
  void take(Job& job, bool of_caller) {
    for (;;) {
      const std::size_t chunk = job.next.fetch_add(1);
      if (chunk >= job.chunks || chunk >= job.stop_at.load()) return;
      try {
        const ChunkProgress progress(job, chunk, of_caller);
        job.work(chunk, progress);
        if (of_caller) progress.poll();
      } catch (const Stopped&) {
        return;
      } catch (...) {
        job.stop(chunk);
        const std::lock_guard<std::mutex> lock(mutex_);
        if (chunk < job.failed) {
          job.failed = chunk;
          job.error = std::current_exception();
        }
        return;
      }
    }
  }

  void serve() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return ending_ || (job_ != nullptr && !job_->exhausted()); });
      if (ending_) return;
      Job& job = *job_;
      const std::uint64_t seen = runs_.load();
      ++job.helpers;
      lock.unlock();
      take(job, false);
      lock.lock();
      if (--job.helpers == 0) done_.notify_one();
      lock.unlock();
      spin_until([&] { return runs_.load() != seen; });
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  Job* job_ = nullptr;  // written under the mutex, by the caller's thread only
  bool ending_ = false;
  std::atomic<std::uint64_t> runs_{0};  // changes with job_ and ending_, for those who look without the mutex
  std::vector<std::thread> workers_;
};

Threads::Threads(int count) : count_(std::max(count, 1)) {}
Threads::~Threads() = default;

void Threads::run(std::size_t chunks, const Progress& progress, const Work& work) {
  if (count_ > 1 && chunks > 1 && pool_ == nullptr) pool_ = std::make_unique<Pool>(count_);
  if (pool_ == nullptr || chunks <= 1 || pool_->busy()) {
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) work(chunk, progress);
    return;
  }
  Job job(chunks, progress, work);
  pool_->run(job);
  if (job.heard != nullptr) std::rethrow_exception(job.heard);
  if (job.error != nullptr) std::rethrow_exception(job.error);
}

void Threads::end() noexcept {
  count_ = 1;
  if (pool_ != nullptr) pool_->end();
}

Threads& Threads::single() {
  static Threads one(1);
  return one;
}

}  // namespace margin
