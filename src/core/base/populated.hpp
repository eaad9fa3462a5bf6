// Pages that are about to be written, all at once: a fault for each page that is touched for the first time takes longer than
// the page does, and small trainings, whose blocks go back to the system each time, meet hundreds of them.
#pragma once

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace margin {

/// Asks for the pages of a block that will be filled soon, where that is neither so little that it may be there already nor so much
/// that a query could not be cancelled meanwhile. A hint only.
inline void populate([[maybe_unused]] void* p, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_POPULATE_WRITE
  constexpr std::uintptr_t page = 4096, least = std::uintptr_t{1} << 16, most = std::uintptr_t{4} << 20;
  if (bytes < least || bytes > most) return;
  const auto first = (reinterpret_cast<std::uintptr_t>(p) + page - 1) / page * page;
  const auto last = (reinterpret_cast<std::uintptr_t>(p) + bytes) / page * page;
  const int error = errno;
  madvise(reinterpret_cast<void*>(first), last - first, MADV_POPULATE_WRITE);
  errno = error;
#endif
}

}  // namespace margin
