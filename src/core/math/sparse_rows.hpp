// A few sparse rows: the left sides of linear constraints.
#pragma once

#include <cstdint>
#include <vector>

namespace margin {

/// Rows of few numbers, one after the other: row k is feature[begin[k]] … feature[begin[k + 1] − 1], each with its coefficient.
struct SparseRows {
  std::vector<std::int32_t> begin = {0}, feature;
  std::vector<double> coefficient;

  std::size_t count() const { return begin.size() - 1; }
  void push(std::int32_t of, double value) {
    feature.push_back(of);
    coefficient.push_back(value);
  }
  void end_row() { begin.push_back(static_cast<std::int32_t>(feature.size())); }
  /// <a_k, v>, and the same of absolute values.
  double product(std::size_t k, const double* v) const;
  double size(std::size_t k, const double* v) const;
  /// v += factor · a_k.
  void add(std::size_t k, double factor, double* v) const;
  double norm(std::size_t k) const;
};

}  // namespace margin
