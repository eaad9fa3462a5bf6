// Rows without their zeros: what costs as much as a row has values is cheaper of them where most are 0.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <vector>

#include "core/data/row.hpp"

namespace margin {

class NonZeros {
 public:
  explicit NonZeros(std::pmr::memory_resource* memory = std::pmr::get_default_resource())
      : floats_(memory), doubles_(memory), columns_(memory) {}
  /// A dense row as a sparse one, in memory of this object until the next call, where less than this share of it is not
  /// 0; else the row as it is.
  Row of(const Row& x, double share);

 private:
  std::pmr::vector<float> floats_;
  std::pmr::vector<double> doubles_;
  std::pmr::vector<std::int32_t> columns_;
};

}  // namespace margin
