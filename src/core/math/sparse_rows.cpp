#include "core/math/sparse_rows.hpp"

#include <cmath>

namespace margin {

double SparseRows::product(std::size_t k, const double* v) const {
  double sum = 0;
  for (auto i = static_cast<std::size_t>(begin[k]); i < static_cast<std::size_t>(begin[k + 1]); ++i)
    sum += coefficient[i] * v[feature[i]];
  return sum;
}

double SparseRows::size(std::size_t k, const double* v) const {
  double sum = 0;
  for (auto i = static_cast<std::size_t>(begin[k]); i < static_cast<std::size_t>(begin[k + 1]); ++i)
    sum += std::fabs(coefficient[i] * v[feature[i]]);
  return sum;
}

void SparseRows::add(std::size_t k, double factor, double* v) const {
  for (auto i = static_cast<std::size_t>(begin[k]); i < static_cast<std::size_t>(begin[k + 1]); ++i)
    v[feature[i]] += factor * coefficient[i];
}

double SparseRows::norm(std::size_t k) const {
  double norm = 0;
  for (auto i = static_cast<std::size_t>(begin[k]); i < static_cast<std::size_t>(begin[k + 1]); ++i)
    norm = std::hypot(norm, coefficient[i]);
  return norm;
}

}  // namespace margin
