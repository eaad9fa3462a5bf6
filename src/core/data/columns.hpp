// A copy of the rows by columns, for methods that change one coordinate at a time.
#pragma once

#include <vector>

#include "core/base/progress.hpp"
#include "core/data/dataset.hpp"

namespace margin {

/// Every column as a Row whose "columns" are the rows of the data set: dense, or row numbers and values where less than
/// a quarter of the data are stored. Values keep their precision.
class Columns {
 public:
  Columns(const Dataset& data, const Progress& progress);
  // Inline: columns are often no longer than a call.
  Row column(std::int32_t j) const {
    const auto at = static_cast<std::size_t>(j);
    const std::size_t from = sparse_ ? begin_[at] : at * static_cast<std::size_t>(rows_);
    const auto count = sparse_ ? static_cast<std::int32_t>(begin_[at + 1] - from) : rows_;
    const void* values = wide_ ? static_cast<const void*>(doubles_.data() + from) : floats_.data() + from;
    return {values, !sparse_ ? nullptr : count > 0 ? indices_.data() + from : &no_indices, count, wide_};
  }
  /// Bytes of such a copy.
  static double bytes(const Dataset& data);

 private:
  template <class T>
  void fill(const Dataset& data, const Progress& progress, std::vector<T>& values);

  std::int32_t rows_;
  bool sparse_, wide_ = false;
  std::vector<std::size_t> begin_;  // sparse: of each column, and the end
  std::vector<std::int32_t> indices_;
  std::vector<float> floats_;
  std::vector<double> doubles_;
};

}  // namespace margin
