// Large pieces of work, such as whole trainings, shared out among threads.
#pragma once

#include <cstddef>

#include "core/base/threads.hpp"

namespace margin {

/// Does work(k, progress) for k = 0 … count − 1, several at once. What is left for fewer than half of the threads is
/// done one by one instead, each on all of them: five pieces on two threads are two pairs and one. Results must not
/// depend on `progress`; which piece is done where depends on the number of threads.
template <class Work>
void share_out(std::size_t count, const Progress& progress, Work work) {
  Threads& threads = progress.threads();
  const auto all = static_cast<std::size_t>(threads.count());
  const std::size_t rest = count % all, together = 2 * rest > all ? count : count - rest;
  if (all > 1 && together > 1) threads.run(together, progress, work);
  for (std::size_t k = all > 1 && together > 1 ? together : 0; k < count; ++k) work(k, progress);
}

}  // namespace margin
