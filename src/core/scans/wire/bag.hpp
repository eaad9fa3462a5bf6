// Rows that an answer keeps: those of the smallest keys, as many as fit.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/base/bytes.hpp"
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
  Bag(std::int64_t most_rows, std::int64_t most_bytes) : most_rows_(most_rows), most_bytes_(most_bytes) {}

  bool wants(double key) const {
    return key < std::numeric_limits<double>::infinity() && (!dropped_ || key <= dropped_key_);
  }
  /// The row of a term, unless its key is +∞ or too large.
  void add(const Term& term, double key);
  void merge(const Bag& other);

  std::int64_t rows() const { return static_cast<std::int64_t>(entries_.size()); }
  std::int64_t bytes() const { return bytes_; }
  /// Nothing was left out.
  bool complete() const { return !dropped_; }
  /// Rows in the order of their keys. Any order until sort() was called.
  void sort();
  KeptRow row(std::int64_t i) const;
  double key(std::int64_t i) const { return entries_[static_cast<std::size_t>(i)].key; }
  const std::string& row_bytes(std::int64_t i) const { return entries_[static_cast<std::size_t>(i)].bytes; }

  void write(ByteWriter& out) const;
  /// Throws Error(malformed).
  void read(ByteReader& in);

 private:
  struct Entry {
    double key;
    std::string bytes;
    bool operator<(const Entry& o) const { return key != o.key ? key < o.key : bytes < o.bytes; }
  };
  void put(Entry entry);
  void drop();

  std::int64_t most_rows_ = 0, most_bytes_ = 0, bytes_ = 0;
  std::vector<Entry> entries_;  // a heap, the largest first
  // The smallest that was left out: what is larger is left out as well.
  bool dropped_ = false;
  double dropped_key_ = 0;
  std::string dropped_bytes_;
};

}  // namespace margin
