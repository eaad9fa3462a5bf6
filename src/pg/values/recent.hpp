// What a call site has made of its last few arguments, so that it is not made again for every row.
#pragma once

#include "pg/server/boundary.hpp"

namespace margin::pg {

/// The values of the keys that were asked for last. A few, because a scan alternates between a few at most, or never
/// comes back; bounded in bytes, because a model may be large. One is always kept.
template <class T>
class Recent {
 public:
  static constexpr std::size_t most = 8;
  static constexpr double most_bytes = 64 << 20;

  /// Null when the key is not among them.
  T* find(std::string_view key) {
    for (Entry& e : entries_) {
      if (e.key != key) continue;
      e.used = ++clock_;
      return &e.value;
    }
    return nullptr;
  }

  /// Keeps `value`, which takes about `bytes`, in the place of those that were not asked for longest.
  T& add(std::string_view key, T value, double bytes) {
    while (!entries_.empty() && (entries_.size() == most || bytes_ + bytes > most_bytes)) {
      const auto oldest = std::min_element(entries_.begin(), entries_.end(),
                                           [](const Entry& a, const Entry& b) { return a.used < b.used; });
      bytes_ -= oldest->bytes;
      entries_.erase(oldest);
    }
    entries_.push_back({std::string(key), std::move(value), bytes, ++clock_});
    bytes_ += bytes;
    return entries_.back().value;
  }

 private:
  struct Entry {
    std::string key;
    T value;
    double bytes;
    std::uint64_t used;
  };
  std::vector<Entry> entries_;
  double bytes_ = 0;
  std::uint64_t clock_ = 0;
};

}  // namespace margin::pg
