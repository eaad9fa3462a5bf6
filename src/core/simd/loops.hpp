// The inner loops, compiled three times (baseline, AVX2, AVX-512) and chosen once at run time, so that one
// package serves every CPU. All sums are double whatever the storage; no -ffast-math: the reassociation that
// vectorisation needs is granted loop by loop (omp simd), so one build on one CPU always gives the same bits.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace margin {

/// Width in bytes of a column panel of rank_update: two cache lines, two AVX-512 vectors.
constexpr std::size_t panel_bytes = 128;

/// Rows of a tile of tile_dots: one cache line of floats for each feature.
constexpr std::size_t tile_rows = 16;

/// Rows of a piecewise linear loss φ(u; y) = max over a ∈ [low0 + low1·y, high0 + high1·y] of a (y − u) − ε|a|, a
/// point u (and a direction du) of their scores, and a proximal term (a − a_old)²/(2κ) on their dual.
struct BoxRows {
  std::size_t count;
  const double *u, *du, *y, *cost, *a_old;
  double low0, low1, high0, high1, epsilon, kappa;
};

/// One set of loops. `n` counts elements; pointers need no alignment and may be null when n is 0.
struct SimdLoops {
  const char* name;  ///< "baseline", "avx2" or "avx512"

  double (*dot_fd)(const float* x, const double* w, std::size_t n);
  double (*dot_dd)(const double* x, const double* w, std::size_t n);
  double (*dot_ff)(const float* x, const float* y, std::size_t n);
  void (*axpy_f)(double a, const float* x, double* y, std::size_t n);  ///< y += a x
  void (*axpy_d)(double a, const double* x, double* y, std::size_t n);
  /// Four rows of n numbers at once, with the bits of four calls of dot and axpy: out[r] = x[r]·w, and y += a[r] x[r] in
  /// turn. Four rows `next` (or nullptr) are fetched meanwhile.
  void (*dots_fd)(const float* const* x, const float* const* next, const double* w, std::size_t n, double* out);
  void (*dots_dd)(const double* const* x, const double* const* next, const double* w, std::size_t n, double* out);
  void (*axpys_f)(const double* a, const float* const* x, const float* const* next, double* y, std::size_t n);
  void (*axpys_d)(const double* a, const double* const* x, const double* const* next, double* y, std::size_t n);
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
  /// The numbers that are not 0 and where they are; returns how many. Both have room for n, and what follows the numbers
  /// there is overwritten.
  std::size_t (*nonzeros_f)(const float* x, std::size_t n, float* values, std::int32_t* places);
  std::size_t (*nonzeros_d)(const double* x, std::size_t n, double* values, std::int32_t* places);
  /// One block row of H += factor · AᵀA. A lies in panels of panel_bytes: panel p holds columns p·width … of all `rows`
  /// rows, row after row (width = panel_bytes / sizeof), panels `panel_stride` elements apart. Updates rows
  /// first·width … of the row-major h (`stride` elements per row) in the columns of panels first … count − 1: the upper
  /// triangle, and below the diagonal what the diagonal's panel covers. Products are summed in the type of A.
  void (*rank_update_f)(const float* panels, std::size_t rows, std::size_t panel_stride, std::size_t first,
                        std::size_t count, double factor, double* h, std::size_t stride);
  void (*rank_update_d)(const double* panels, std::size_t rows, std::size_t panel_stride, std::size_t first,
                        std::size_t count, double factor, double* h, std::size_t stride);
  /// With a_i maximal at u + t·du: slope = Σ cost_i a_i du_i and curvature = κ Σ cost_i du_i² over the a_i that move.
  void (*box_line)(const BoxRows& rows, double t, double* slope, double* curvature);
  /// At u: the maximal a_i, cost_i where a_i moves with u (else 0), Σ cost φ(u) and Σ cost φ*(−a).
  void (*box_point)(const BoxRows& rows, double* a, double* free_cost, double* loss, double* conjugate);
  /// Writes scale · x as one row of column panels of doubles for rank_update_d, `panel_stride` elements apart; what is
  /// left of the last panel is not touched.
  void (*pack_f)(const float* x, std::size_t n, double scale, double* to, std::size_t panel_stride);
  void (*pack_d)(const double* x, std::size_t n, double scale, double* to, std::size_t panel_stride);
  /// The logistic loss ln(1 + exp(−y u)) of n rows, y = ±1, and its slope in u.
  void (*logistic)(const double* u, const double* y, std::size_t n, double* value, double* slope);
  /// out = −b ln b − (1 − b) ln(1 − b), b = |a| ≤ 1 (what exceeds 1 by rounding counts as 1), to a few 1e-16.
  void (*entropy)(const double* a, std::size_t n, double* out);
  /// out = |scale · x|^exponent, 0 for x = 0; scale · x below 2^1000 in size, exponent > 0.
  void (*power)(const double* x, std::size_t n, double scale, double exponent, double* out);
  /// A coordinate step of one row, y = ±1, in n models whose duals are a: with b = y·a the step in b towards
  /// 1/(1 + exp(y u)), divided by 1 + s/4, s = scale · size; none where scale is 0. t = scale · step; estimate += scale
  /// times about φ(u) + φ*(−a) + a u before the step.
  void (*logistic_steps)(const double* u, double y, const double* scale, double size, std::size_t n, double* a,
                         double* t, double* estimate);
  /// One row (`indices` null: dense) against `width` (4, 8, 12 or 16) weight vectors side by side, w[j · width + c].
  /// panel_dot: u[c] = Σ_k values[k] · w[j_k · width + c]. panel_add: w[j_k · width + c] += coefficients[c] ·
  /// values[k] · factors[j_k · width + c] (null: 1).
  void (*panel_dot_f)(const float* values, const std::int32_t* indices, std::size_t n, const double* w,
                      std::size_t width, double* u);
  void (*panel_dot_d)(const double* values, const std::int32_t* indices, std::size_t n, const double* w,
                      std::size_t width, double* u);
  void (*panel_add_f)(const double* coefficients, const double* factors, const float* values,
                      const std::int32_t* indices, std::size_t n, std::size_t width, double* w);
  void (*panel_add_d)(const double* coefficients, const double* factors, const double* values,
                      const std::int32_t* indices, std::size_t n, std::size_t width, double* w);
  /// out[p · tile_rows + r] = Σ_j tile[j · tile_rows + r] · x[p][j] over d features, for `points` points.
  void (*tile_dots_f)(const float* tile, const double* const* x, std::size_t points, std::size_t d, double* out);
  void (*tile_dots_d)(const double* tile, const double* const* x, std::size_t points, std::size_t d, double* out);
  /// values[i] <- exp(−values[i]) for values of 0 or more; 0 below exp(−708).
  void (*exp_negated)(double* values, std::size_t n);
  /// values[i] <- exp(−gamma · max(0, square + squares[i] − 2 values[i]))
  void (*rbf)(double gamma, double square, const double* squares, std::size_t n, double* values);
  /// Of n numbers of 0 or more: Σ x_i y_i, and how many of these products are positive.
  void (*relu_pair)(const double* x, const double* y, std::size_t n, double* both, double* product);
  /// error −= delta (ki − kj); then the largest error + up and the smallest error + low.
  void (*pair_step)(double delta, const double* ki, const double* kj, std::size_t n, const double* up,
                    const double* low, double* error, double* top, double* bottom);
  /// The first t with a[t] + b[t] == value, or n.
  std::size_t (*find_sum)(double value, const double* a, const double* b, std::size_t n);
  /// gain[t] = max(0, top − error[t] − low[t])² / max(least, kii + diagonal[t] − 2 ki[t]); returns the largest.
  double (*pair_gain)(double top, double kii, double least, const double* ki, const double* diagonal,
                      const double* error, const double* low, std::size_t n, double* gain);
  /// gain[t] = max(0, error[t] + up[t], −error[t] − low[t])² / max(least, diagonal[t]); returns the largest.
  double (*single_gain)(double least, const double* diagonal, const double* error, const double* up, const double* low,
                        std::size_t n, double* gain);
};

/// The best set that this CPU runs; the choice is made at the first call and never changes. Inline, as the products of
/// short rows take no longer than a call.
const SimdLoops& choose_simd();
inline std::atomic<const SimdLoops*> chosen_simd{nullptr};
inline const SimdLoops& simd() {
  const SimdLoops* const chosen = chosen_simd.load(std::memory_order_relaxed);
  return chosen != nullptr ? *chosen : choose_simd();
}

/// All sets that this CPU can run, the baseline first (for tests that compare them).
struct KernelList {
  const SimdLoops* items[3];
  int count;
};
KernelList available_kernels();

}  // namespace margin
