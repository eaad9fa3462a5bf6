// The few rows that a solver visits again and again.
#pragma once

#include <cstring>
#include <vector>

#include "core/data/dataset.hpp"

namespace margin {

/// A list of rows of a data set, which outlives it. Spilled ones are copied, byte for byte, as far as an eighth of what
/// rows may take in memory goes: scattered over a file, each would hold its neighbours in memory, too.
class KeptRows {
 public:
  explicit KeptRows(const Dataset& data) : data_(data), left_(data.spilled() ? data.store()->share() / 8 : 0) {}

  std::size_t size() const { return rows_.size(); }
  const Row& operator[](std::size_t k) const { return rows_[k]; }
  void add(std::int64_t row) { rows_.push_back(copy(data_.row(row))); }

 private:
  Row copy(Row x) {
    const auto n = static_cast<std::size_t>(x.count);
    const std::size_t values = n * (x.wide ? sizeof(double) : sizeof(float));
    const std::size_t bytes = values + (x.indices != nullptr ? n * sizeof(std::int32_t) : 0);
    if (bytes == 0 || bytes > left_) return x;
    left_ -= bytes;
    copies_.emplace_back((bytes + sizeof(double) - 1) / sizeof(double));
    char* const at = reinterpret_cast<char*>(copies_.back().data());
    std::memcpy(at, x.values, values);
    if (x.indices != nullptr) {
      std::memcpy(at + values, x.indices, bytes - values);
      x.indices = reinterpret_cast<const std::int32_t*>(at + values);
    }
    x.values = at;
    return x;
  }

  const Dataset& data_;
  std::size_t left_;
  std::vector<Row> rows_;
  std::vector<std::vector<double>> copies_;
};

}  // namespace margin
