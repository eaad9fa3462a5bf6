// Rows that an answer keeps: those of the smallest keys, as many as fit.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/progress.hpp"
#include "core/data/row.hpp"

namespace margin {

struct Term;

/// A row with all that a training wants to know of it; a view of a kept row's bytes.
struct KeptRow {
  FeatureRow x{};
  std::string_view label;
  double label_key = 0;
  std::int32_t label_class = -1;
  double lower = 0, upper = 0, weight = 1;
};

/// The same for rows of equal features, class, targets and weight, in whatever form they came; but for collisions of
/// hashes other ones for others.
std::uint64_t row_identity(const KeptRow& row);

/// The rows of smallest keys, up to a number of rows and of bytes: of all rows in the order of their keys (ties by
/// bytes) the longest beginning that fits. So it depends neither on the order nor on the split in which rows come.
class Bag {
 public:
  Bag() = default;
  /// `most_small`: of rows below small_key up to so many stay, where that is more.
  Bag(std::int64_t most_rows, std::int64_t most_bytes, std::int64_t most_small = 0)
      : most_rows_(most_rows), most_bytes_(most_bytes), most_small_(most_small) {}

  /// Of keys that are spread evenly from 0 to 1, a hundredth of all rows: a sample grows with their number, which nobody
  /// knows before.
  static constexpr double small_key = 0.01;

  /// From now on it keeps up to so many, which are not fewer than before; what was left out stays out.
  void widen(std::int64_t most_rows, std::int64_t most_bytes, std::int64_t most_small) {
    trim();
    most_rows_ = most_rows;
    most_bytes_ = most_bytes;
    most_small_ = most_small;
  }
  bool wants(double key) const {
    return key < std::numeric_limits<double>::infinity() && (!dropped_ || key <= dropped_key_);
  }
  /// The row of a term, unless its key is +∞ or too large.
  void add(const Term& term, double key);
  void merge(const Bag& other, const Progress& progress);

  std::int64_t rows() const {
    trim();
    return static_cast<std::int64_t>(entries_.size());
  }
  std::int64_t bytes() const {
    trim();
    return bytes_;
  }
  /// Nothing was left out.
  bool complete() const {
    trim();
    return !dropped_;
  }
  /// Rows in the order of their keys. Any order until sort() was called.
  void sort();
  KeptRow row(std::int64_t i) const;  ///< i < rows()
  double key(std::int64_t i) const { return entries_[static_cast<std::size_t>(i)].key; }
  std::string_view row_bytes(std::int64_t i) const { return bytes_of(entries_[static_cast<std::size_t>(i)]); }

  void write(ByteWriter& out, const Progress& progress) const;
  /// Throws Error(malformed).
  void read(ByteReader& in, const Progress& progress);

 private:
  struct Place {
    std::size_t begin, size;
  };
  struct Entry {
    double key;
    std::size_t begin, size;  // of the bytes of the row
  };
  std::string_view bytes_of(const Entry& e) const { return {room_.data() + e.begin, e.size}; }
  bool before(const Entry& a, const Entry& b) const {
    return a.key != b.key ? a.key < b.key : bytes_of(a) < bytes_of(b);
  }
  /// Whether the row comes behind what was left out.
  bool left_out(double key, std::string_view bytes) const {
    return dropped_ && (key != dropped_key_ ? key > dropped_key_ : bytes > dropped_bytes_);
  }
  char* put(double key, std::size_t size);
  void settle_last();
  void vacate(const Entry& e) const;
  void trim() const;
  std::int64_t rows_allowed() const;
  void drop_from(std::size_t first) const;
  void pack() const;

  std::int64_t most_rows_ = 0, most_bytes_ = 0, most_small_ = 0;
  // Up to a quarter more than fits: a heap would move every row that comes and goes through all levels of it. Whoever
  // looks sees what fits.
  mutable std::vector<Entry> entries_;
  mutable std::vector<char> room_;  // each row at a multiple of 8
  // Where rows were that left, for others: most often all are of one size. What none fits into is closed up later.
  mutable std::vector<Place> free_;
  mutable std::int64_t bytes_ = 0;
  mutable std::size_t fitting_ = 0;  // so many rows were found to fit, and all of them are here
  // The smallest that was left out: what is larger is left out as well.
  mutable bool dropped_ = false;
  mutable double dropped_key_ = 0;
  mutable std::string dropped_bytes_;
};

}  // namespace margin
