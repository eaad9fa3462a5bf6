// Which features any row has: what a scan tells of rows that declare far more of them than they use.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/data/row.hpp"

namespace margin {

class FeatureSet {
 public:
  void add(const FeatureRow& x);
  void merge(const FeatureSet& other);

  /// A dense row has every feature that it states: there is nothing to spare.
  bool all() const { return all_; }
  /// 0-based, ascending; not of a set that has all.
  std::vector<std::int32_t> features() const;
  /// Bytes of memory, about; as many as there are features.
  double bytes() const;

  void write(ByteWriter& out) const;
  /// Features below `dimensions`. Throws Error(malformed).
  void read(ByteReader& in, std::int32_t dimensions);

 private:
  static constexpr std::int32_t few = 1 << 16;  // below it one bit for each
  void insert(std::int32_t feature);
  void settle();

  bool all_ = false;
  std::vector<std::uint64_t> low_;
  std::vector<std::int32_t> sorted_, fresh_;  // of the others; each of the first list once
};

}  // namespace margin
