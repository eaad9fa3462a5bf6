// Rows without their zeros: what costs as much as a row has values is cheaper of them where most are 0.
#pragma once

#include <cstdint>
#include <vector>

#include "core/data/row.hpp"

namespace margin {

class NonZeros {
 public:
  /// A dense row as a sparse one, in memory of this object until the next call, where no more than this share of it is not
  /// 0; else the row as it is.
  Row of(const Row& x, double share);

 private:
  std::vector<double> values_;
  std::vector<std::int32_t> columns_;
};

}  // namespace margin
