// The columns that tell rows apart, each by the ranks of its values: what a sweep over decision trees reads.
#pragma once

#include <vector>

#include "core/base/progress.hpp"
#include "core/data/dataset.hpp"

namespace margin {

class RankedColumns {
 public:
  struct Column {
    std::int32_t feature;
    std::vector<double> values;        ///< that occur, ascending; two at least
    std::vector<std::uint32_t> ranks;  ///< of each row: which of these is its
    std::vector<std::uint32_t> order;  ///< the rows by their ranks
  };
  RankedColumns(const Dataset& data, const Progress& progress);
  const std::vector<Column>& columns() const { return columns_; }
  /// Bytes of them, at most.
  static double bytes(const Dataset& data) { return 16.0 * static_cast<double>(data.rows()) * data.dimensions(); }

 private:
  std::vector<Column> columns_;
};

}  // namespace margin
