// A row of features as it lies in memory: dense or sparse, float or double. A view: it owns nothing.
#pragma once

#include <cstdint>

#include "core/simd/loops.hpp"

namespace margin {

/// `count` values; where `indices` is not null they are 0-based, strictly increasing columns of the values.
struct Row {
  const void* values;
  const std::int32_t* indices;  ///< null: dense
  std::int32_t count;
  bool wide;  ///< values are double, not float

  const float* floats() const { return static_cast<const float*>(values); }
  const double* doubles() const { return static_cast<const double*>(values); }
  double value(std::int32_t k) const { return wide ? doubles()[k] : static_cast<double>(floats()[k]); }
};

/// A row together with the number of features that it states: for dense rows their count, for sparse rows what their
/// writer said, 0 for "as far as the indices go".
struct FeatureRow : Row {
  std::int32_t dimensions;
};
inline FeatureRow dense_row(const float* x, std::int32_t n) { return {{x, nullptr, n, false}, n}; }
inline FeatureRow dense_row(const double* x, std::int32_t n) { return {{x, nullptr, n, true}, n}; }
/// Indices tell a sparse row from a dense one: also one without values has some, where `indices` is null.
inline const std::int32_t no_indices = 0;
inline FeatureRow sparse_row(const std::int32_t* indices, const float* values, std::int32_t nonzeros,
                             std::int32_t dimensions) {
  return {{values, indices != nullptr ? indices : &no_indices, nonzeros, false}, dimensions};
}
inline FeatureRow sparse_row(const std::int32_t* indices, const double* values, std::int32_t nonzeros,
                             std::int32_t dimensions) {
  return {{values, indices != nullptr ? indices : &no_indices, nonzeros, true}, dimensions};
}

/// The features that a row reaches: the count of a dense row, the largest index + 1 of a sparse one.
inline std::int32_t reach(const Row& x) {
  if (x.indices == nullptr) return x.count;
  return x.count > 0 ? x.indices[x.count - 1] + 1 : 0;
}

/// Throws Error(invalid_value) naming the first feature that is not a finite number, if there is one. `clause`: the
/// part of SQL that leaves such rows out where the row was read, for the hint.
void require_finite(const Row& x, const char* clause);

/// <x, w>; w has at least as many elements as the row has columns.
inline double dot(const Row& x, const double* w) {
  const auto n = static_cast<std::size_t>(x.count);
  const SimdLoops& k = simd();
  if (x.indices == nullptr) return x.wide ? k.dot_dd(x.doubles(), w, n) : k.dot_fd(x.floats(), w, n);
  return x.wide ? k.sparse_dot_d(x.doubles(), x.indices, w, n) : k.sparse_dot_f(x.floats(), x.indices, w, n);
}

/// w[indices[k]] += a values[k], of indices that differ: four weights are read before any is written, so that none waits
/// to be told from the one before.
template <class T>
inline void add_at(double a, const T* values, const std::int32_t* indices, std::size_t n, double* w) {
  std::size_t k = 0;
  for (; k + 4 <= n; k += 4) {
    double *const at0 = w + indices[k], *const at1 = w + indices[k + 1], *const at2 = w + indices[k + 2],
                  *const at3 = w + indices[k + 3];
    const double to0 = *at0 + a * static_cast<double>(values[k]), to1 = *at1 + a * static_cast<double>(values[k + 1]),
                 to2 = *at2 + a * static_cast<double>(values[k + 2]),
                 to3 = *at3 + a * static_cast<double>(values[k + 3]);
    *at0 = to0;
    *at1 = to1;
    *at2 = to2;
    *at3 = to3;
  }
  for (; k < n; ++k) w[indices[k]] += a * static_cast<double>(values[k]);
}

/// w += a x
inline void add(double a, const Row& x, double* w) {
  const auto n = static_cast<std::size_t>(x.count);
  if (x.indices == nullptr) {
    if (x.wide)
      simd().axpy_d(a, x.doubles(), w, n);
    else
      simd().axpy_f(a, x.floats(), w, n);
  } else if (x.wide) {
    add_at(a, x.doubles(), x.indices, n, w);
  } else {
    add_at(a, x.floats(), x.indices, n, w);
  }
}

/// x_j of column `j`: a look-up, or a binary search among the indices of a sparse row.
double value_at(const Row& x, std::int32_t j);

/// max_j |x_j|
double max_abs(const Row& x);

/// ‖scale · x‖²; the scale is applied before squaring, so values of 1e±150 neither overflow nor vanish.
double squared_norm(const Row& x, double scale = 1.0);

/// ‖x‖ without overflow or underflow for values up to 1e±300. `square`: squared_norm(x), where it is known.
double norm(const Row& x, double square);
inline double norm(const Row& x) { return norm(x, squared_norm(x)); }

/// Ask for the first cache lines of a row that will be read soon.
inline void prefetch(const Row& x) {
  const char* p = static_cast<const char*>(x.values);
  const long bytes = static_cast<long>(x.count) * (x.wide ? 8 : 4);
  for (long at = 0; at < bytes && at < 512; at += 64) __builtin_prefetch(p + at);
  if (x.indices != nullptr) __builtin_prefetch(x.indices);
}

}  // namespace margin
