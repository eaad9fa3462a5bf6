// Threads: chunks in order, errors, cancels, the same bits for every number of them.
#include "core/base/threads.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <fstream>
#include <new>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "core/base/error.hpp"

namespace margin {
namespace {

/// Of this process, as the kernel counts them.
int running_threads() {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line))
    if (line.rfind("Threads:", 0) == 0) return std::stoi(line.substr(8));
  return -1;
}

/// The same, once the kernel has finished with those that have ended.
int threads_left(int expected) {
  for (int wait = 0; wait < 1000 && running_threads() != expected; ++wait)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return running_threads();
}

/// Once the kernel has finished with threads that have ended, a little after they were joined.
int settled_threads() {
  int number = running_threads();
  for (int same = 0; same < 10; ++same) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const int now = running_threads();
    if (now != number) same = 0;
    number = now;
  }
  return number;
}

double sum_by_chunks(Threads& threads, std::int64_t n) {
  const Chunks chunks(n, 1000.0);
  std::vector<double> part(chunks.count());
  const Progress nobody;
  threads.run(chunks.count(), nobody, [&](std::size_t k, const Progress& progress) {
    double sum = 0;
    for (std::int64_t i = chunks.begin(k); i < chunks.end(k); ++i) {
      sum += std::sin(static_cast<double>(i)) / 3;
      progress.work(1000);
    }
    part[k] = sum;
  });
  return std::accumulate(part.begin(), part.end(), 0.0);
}

TEST(Chunks, cover_all_items_once_and_are_worth_it) {
  for (const std::int64_t n :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{7}, std::int64_t{1000}, std::int64_t{99999}})
    for (const double operations : {1.0, 50.0, 1e4, 1e7}) {
      const Chunks chunks(n, operations);
      ASSERT_GE(chunks.count(), 1U);
      ASSERT_LE(chunks.count(), 64U);
      std::int64_t at = 0;
      for (std::size_t k = 0; k < chunks.count(); ++k) {
        ASSERT_EQ(chunks.begin(k), at);
        ASSERT_GE(chunks.end(k), at);
        const double worth = static_cast<double>(chunks.end(k) - at + 1) * operations;
        ASSERT_TRUE(chunks.count() == 1 || worth >= Chunks::worthwhile);
        at = chunks.end(k);
      }
      ASSERT_EQ(at, n);
    }
  EXPECT_EQ(Chunks(1000, 10.0).count(), 1U);
  EXPECT_EQ(Chunks(1000000, 100.0).count(), 64U);
  EXPECT_EQ(Chunks(1000000, 100.0, 1e5).count(), 14U);  // partial results of 64 × 10⁵ numbers: 15 chunks at most
  EXPECT_EQ(Chunks(300, 1400.0).count(), 2U);           // not three, which two threads share badly
}

/// A thread looks for the next run for a while and then sleeps: either way it has to hear of it, and of the end.
TEST(Threads, serve_runs_that_follow_at_once_and_runs_after_a_pause) {
  Threads one(1);
  const double expected = sum_by_chunks(one, 3000);
  for (const int count : {2, 3}) {
    Threads threads(count);
    for (int round = 0; round < 300; ++round) {
      // Pauses of 0 … 90 µs: shorter than a thread's patience, about as long, and longer.
      if (round % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds(round % 10 * 10));
      ASSERT_EQ(sum_by_chunks(threads, 3000), expected) << count << " threads, run " << round;
    }
    if (count == 3) threads.end();  // while they look for a run
  }
}

TEST(Threads, same_bits_for_every_number_of_them) {
  Threads one(1);
  const double expected = sum_by_chunks(one, 20000);
  for (const int count : {1, 2, 3, 8}) {
    Threads threads(count);
    for (int round = 0; round < 20; ++round) EXPECT_EQ(sum_by_chunks(threads, 20000), expected) << count;
  }
}

TEST(Threads, are_made_late_and_gone_with_the_object) {
  const int before = settled_threads();
  {
    Threads threads(4);
    const Progress nobody;
    int done = 0;
    threads.run(1, nobody, [&](std::size_t, const Progress&) { ++done; });
    threads.run(0, nobody, [&](std::size_t, const Progress&) { ++done; });
    EXPECT_EQ(done, 1);
    EXPECT_EQ(running_threads(), before);
    sum_by_chunks(threads, 20000);
    EXPECT_EQ(running_threads(), before + 3);
  }
  EXPECT_EQ(threads_left(before), before);
}

TEST(Threads, all_take_part) {
  Threads threads(3);
  const Progress nobody;
  std::atomic<int> inside{0};
  threads.run(3, nobody, [&](std::size_t, const Progress&) {
    ++inside;
    while (inside < 3) std::this_thread::yield();
  });
  EXPECT_EQ(inside, 3);
}

TEST(Threads, of_the_chunks_that_throw_the_lowest_is_heard) {
  for (const int count : {1, 2, 8}) {
    Threads threads(count);
    const Progress nobody;
    for (int round = 0; round < 50; ++round) {
      std::array<std::atomic<int>, 40> done{};
      try {
        threads.run(40, nobody, [&](std::size_t k, const Progress&) {
          if (k == 9 || k == 11 || k == 30) throw Error(ErrorKind::invalid_value, std::to_string(k));
          ++done[k];
        });
        FAIL() << "nothing was thrown";
      } catch (const Error& e) {
        EXPECT_EQ(e.message(), "9");
      }
      for (std::size_t k = 0; k < 9; ++k) EXPECT_EQ(done[k], 1);
      EXPECT_LE(std::accumulate(done.begin(), done.end(), 0, [](int sum, const auto& d) { return sum + d; }), 37);
    }
    EXPECT_GT(sum_by_chunks(threads, 5000), -10);  // and goes on
  }
}

TEST(Threads, a_chunk_without_memory_is_bad_alloc) {
  Threads threads(4);
  const Progress nobody;
  const auto fails = [&] {
    threads.run(16, nobody, [](std::size_t k, const Progress&) {
      if (k % 4 == 3) throw std::bad_alloc();
    });
  };
  EXPECT_THROW(fails(), std::bad_alloc);
  EXPECT_THROW(fails(), std::bad_alloc);
}

/// Throws when it is asked for the n-th time, and notes on which thread that was.
class Cancelled final : public Progress {
 public:
  struct Cancel {};
  Cancelled(Threads& threads, int after) : Progress(1000, &threads), after_(after) {}
  void poll() const override {
    EXPECT_EQ(std::this_thread::get_id(), caller_);
    if (++polls == after_) throw Cancel();
  }
  void report(std::string_view, const TracePoint&) const override { ++reports; }
  mutable int polls = 0, reports = 0;

 private:
  int after_;
  std::thread::id caller_ = std::this_thread::get_id();
};

TEST(Threads, a_cancel_ends_all_chunks) {
  for (const int count : {1, 2, 4})
    for (const int after : {1, 2, 7}) {
      Threads threads(count);
      const Cancelled cancelled(threads, after);
      EXPECT_THROW(cancelled.threads().run(8, cancelled,
                                           [&](std::size_t, const Progress& progress) {
                                             for (;;) progress.work(100);
                                           }),
                   Cancelled::Cancel);
      EXPECT_EQ(cancelled.polls, after);
      EXPECT_NE(sum_by_chunks(threads, 5000), 0);
    }
}

// The caller has no chunk left, and waits.
TEST(Threads, a_cancel_is_heard_while_the_caller_waits) {
  Threads threads(2);
  const Cancelled cancelled(threads, 4);
  const auto caller = std::this_thread::get_id();
  std::atomic<bool> other{false};
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THROW(threads.run(2, cancelled,
                           [&](std::size_t, const Progress& progress) {
                             if (std::this_thread::get_id() == caller) {
                               while (!other) std::this_thread::yield();
                               return;
                             }
                             other = true;
                             for (;;) progress.work(100);
                           }),
               Cancelled::Cancel);
  EXPECT_EQ(cancelled.polls, 4);
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), 5);
}

// The chunk of the other thread fails because the run is over.
TEST(Threads, a_cancel_comes_before_errors) {
  Threads threads(2);
  const Cancelled cancelled(threads, 50);
  std::atomic<int> inside{0};
  EXPECT_THROW(threads.run(2, cancelled,
                           [&](std::size_t, const Progress& progress) {
                             ++inside;
                             while (inside < 2) std::this_thread::yield();
                             try {
                               for (;;) progress.work(100);
                             } catch (const Cancelled::Cancel&) {
                               throw;
                             } catch (...) {
                               throw Error(ErrorKind::invalid_value, "stopped");
                             }
                           }),
               Cancelled::Cancel);
}

TEST(Threads, a_run_inside_of_a_chunk_stays_on_its_thread) {
  Threads threads(4);
  const Cancelled progress(threads, -1);
  std::vector<double> result(6);
  threads.run(6, progress, [&](std::size_t k, const Progress& own) {
    EXPECT_EQ(own.threads().count(), 1);
    own.report("nobody", TracePoint{});
    const QuietProgress quiet(own);
    const auto here = std::this_thread::get_id();
    std::vector<double> part(8);
    quiet.threads().run(8, quiet, [&](std::size_t j, const Progress& inner) {
      EXPECT_EQ(std::this_thread::get_id(), here);
      inner.work(5000);
      part[j] = static_cast<double>(k * j);
    });
    result[k] = std::accumulate(part.begin(), part.end(), 0.0);
  });
  for (std::size_t k = 0; k < 6; ++k) EXPECT_EQ(result[k], 28.0 * static_cast<double>(k));
  EXPECT_EQ(progress.reports, 0);
}

TEST(Threads, the_caller_goes_on_alone_after_the_end) {
  const int before = settled_threads();
  Threads threads(4);
  const double expected = sum_by_chunks(threads, 20000);
  threads.end();
  EXPECT_EQ(threads_left(before), before);
  EXPECT_EQ(sum_by_chunks(threads, 20000), expected);
}

TEST(Threads, parts_of_a_call_have_its_threads) {
  Threads threads(3);
  const Cancelled whole(threads, -1);
  const QuietProgress quiet(whole);
  EXPECT_EQ(&quiet.threads(), &threads);
  EXPECT_EQ(quiet.operations_between_polls(), 1000);
  EXPECT_EQ(Progress().threads().count(), 1);
}

}  // namespace
}  // namespace margin
