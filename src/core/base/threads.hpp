// Threads for passes over rows in memory. Work is cut into chunks by the size of the problem alone; which thread does a
// chunk is open, what a chunk computes and the order in which the caller adds partial results are not: the bits are the
// same for every number of threads, one included.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/base/large_array.hpp"
#include "core/base/progress.hpp"

namespace margin {

/// The threads of one training. The caller's is one of them; the others are made by the first run that needs them, with
/// all signals blocked, and are gone when this object is. They sleep between runs that do not follow each other at once.
class Threads {
 public:
  /// What a run does, chunk by chunk. `progress` is for this chunk: on the caller's thread it hears what the caller
  /// hears; on another it only learns that the run is over, and then leaves the chunk by an exception of its own. It
  /// tells nobody how far it is, and its threads() is the chunk's own thread alone.
  using Work = std::function<void(std::size_t chunk, const Progress& progress)>;

  /// At most `count` threads, that of the caller included; fewer where the system gives no more.
  explicit Threads(int count);
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  int count() const { return count_; }

  /// Does chunks 0, 1, ... in parallel and returns when all are done. What a chunk throws ends the run and is thrown
  /// here, that of the lowest chunk that threw; what poll() throws comes before. When this returns or throws, no chunk is
  /// at work. A run inside of a chunk takes place on the chunk's thread.
  /// `work` never calls the server, takes no memory but its own, and writes nothing that another chunk reads or writes.
  void run(std::size_t chunks, const Progress& progress, const Work& work);

  /// Ends a run that is under way, and all threads but the caller's: what remains is done by the caller. For a process
  /// that is about to exit in the middle of a poll.
  void end() noexcept;

  /// The thread of whoever has no other; for any number of callers at once.
  static Threads& single();

 private:
  struct Job;
  class ChunkProgress;
  class Pool;

  int count_;
  std::unique_ptr<Pool> pool_;
};

/// `items` of about `operations` multiply-adds each, cut into chunks that are worth a thread's while; few items are one
/// chunk. Depends on the problem only.
class Chunks {
 public:
  /// Waking a thread takes as long as some 10⁵ multiply-adds, finding it awake far less.
  static constexpr double worthwhile = 131072;
  static constexpr double most = 64;

  /// `partial`: the numbers of a partial result that each chunk has of its own. There are so few chunks that these take
  /// at most a 64th of the work, and of the memory that is read.
  Chunks(std::int64_t items, double operations, double partial = 0) : items_(items) {
    const double all = static_cast<double>(items) * operations;
    const double room = std::min(most, all / std::max(worthwhile, 64 * partial));
    count_ = static_cast<std::size_t>(std::clamp(room, 1.0, std::max(1.0, static_cast<double>(items))));
    count_ -= count_ > 1 ? count_ % 2 : 0;  // three chunks take two threads as long as four of the same size
  }
  std::size_t count() const { return count_; }
  /// The items of a chunk: from begin(k) to before begin(k + 1).
  std::int64_t begin(std::size_t k) const {
    const auto n = static_cast<std::int64_t>(count_), at = static_cast<std::int64_t>(k);
    return items_ / n * at + std::min(at, items_ % n);
  }
  std::int64_t end(std::size_t k) const { return begin(k + 1); }

 private:
  std::int64_t items_;
  std::size_t count_;
};

/// A sum over all items: work(begin, end, sum, progress) for the items of one chunk, which starts from the sum of none;
/// Sum has +=, and the sums of the chunks are added in their order.
template <class Sum, class Work>
Sum sum_in_chunks(Threads& threads, const Chunks& chunks, const Progress& progress, Work&& work) {
  std::vector<Sum> sums(chunks.count());
  threads.run(chunks.count(), progress, [&](std::size_t k, const Progress& own) {
    Sum sum{};
    work(chunks.begin(k), chunks.end(k), sum, own);
    sums[k] = sum;
  });
  for (std::size_t k = 1; k < sums.size(); ++k) sums[0] += sums[k];
  return sums[0];
}

/// The same of `size` numbers, added to `to`, to which the first chunk adds its items one by one.
template <class Work>
void add_in_chunks(Threads& threads, const Chunks& chunks, const Progress& progress, double* to, std::size_t size,
                   Work&& work) {
  // Each begins on a cache line: loops that add to it write one line for every vector, not two.
  constexpr std::size_t line = 64 / sizeof(double);
  const std::size_t padded = (size + line - 1) / line * line;
  LargeArray sums((chunks.count() - 1) * padded);
  const auto of_chunk = [&](std::size_t k) { return sums.data() + (k - 1) * padded; };
  threads.run(chunks.count(), progress, [&](std::size_t k, const Progress& own) {
    if (k > 0) std::fill_n(of_chunk(k), size, 0.0);
    work(chunks.begin(k), chunks.end(k), k == 0 ? to : of_chunk(k), own);
  });
  for (std::size_t k = 1; k < chunks.count(); ++k) {
    const double* const from = of_chunk(k);
    for (std::size_t j = 0; j < size; ++j) to[j] += from[j];
    progress.work(static_cast<double>(size));
  }
}

}  // namespace margin
