// What a call site has made of its last few arguments, so that it is not made again for every row.
#pragma once

#include "pg/server/boundary.hpp"

namespace margin::pg {

/// The values of the keys that were asked for last. A few, because a scan goes round a few at most (the models that a
/// join puts beside each row), or never comes back; bounded in bytes, because a model may be large. One is always kept.
template <class T>
class Recent {
 public:
  static constexpr std::size_t most = 64;
  static constexpr double most_bytes = 64 << 20;

  /// Null when the key is not among them.
  T* find(std::string_view key) {
    const std::size_t n = entries_.size();
    // The same as before, or the one that came after it the last time round: the others are looked at for want of it.
    for (std::size_t step = 0; step < n; ++step) {
      const std::size_t i = (last_ + step) % n;
      Entry& e = entries_[i];
      if (e.key != key) continue;
      e.used = ++clock_;
      last_ = i;
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
    last_ = entries_.size() - 1;
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
  std::size_t last_ = 0;  // what was found or added last
};

}  // namespace margin::pg
