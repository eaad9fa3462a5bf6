// The inner loops, compiled three times (baseline, AVX2, AVX-512) and chosen once at run time, so that one
// package serves every CPU. All sums are double whatever the storage; no -ffast-math: the reassociation that
// vectorisation needs is granted loop by loop (omp simd), so one build on one CPU always gives the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace margin {

/// One set of loops. `n` counts elements; pointers need no alignment and may be null when n is 0.
struct Kernels {
  const char* name;  ///< "baseline", "avx2" or "avx512"

  double (*dot_fd)(const float* x, const double* w, std::size_t n);
  double (*dot_dd)(const double* x, const double* w, std::size_t n);
  double (*dot_ff)(const float* x, const float* y, std::size_t n);
  void (*axpy_f)(double a, const float* x, double* y, std::size_t n);  ///< y += a x
  void (*axpy_d)(double a, const double* x, double* y, std::size_t n);
  /// Σ values[k] · w[indices[k]]
  double (*sparse_dot_f)(const float* values, const std::int32_t* indices, const double* w, std::size_t n);
  double (*sparse_dot_d)(const double* values, const std::int32_t* indices, const double* w, std::size_t n);
  /// (x, y) <- (c x + s y, c y − s x): one Givens rotation of two columns
  void (*rotate)(double c, double s, double* x, double* y, std::size_t n);
  double (*max_abs_f)(const float* x, std::size_t n);
  double (*max_abs_d)(const double* x, std::size_t n);
  /// true when no element is NaN or infinite
  bool (*finite_f)(const float* x, std::size_t n);
  bool (*finite_d)(const double* x, std::size_t n);
  std::size_t (*count_nonzero_f)(const float* x, std::size_t n);
  std::size_t (*count_nonzero_d)(const double* x, std::size_t n);
};

/// The best set that this CPU runs; the choice is made at the first call and never changes.
const Kernels& kernels();

/// All sets that this CPU can run, the baseline first (for tests that compare them).
struct KernelList {
  const Kernels* items[3];
  int count;
};
KernelList available_kernels();

}  // namespace margin
