// Where a result counts as decided. The certificate decides the status by these numbers (final_status); a solver stops
// a little inside of them, because the certificate moves its bounds outward by what rounding may have cost, and would
// not confirm what was reached only just.
#pragma once

namespace margin {

/// A share of the largest row norm: rows that no separator parts by more are not separable for any purpose.
constexpr double negligible_margin = 1e-9;

/// The same for kernels, a share of the largest sqrt(k(x, x)): sums of kernel values prove no smaller margin, because
/// ‖Σ q z‖² is a sum of terms of either sign that each err by 1e-16 of k(x, x) or more.
constexpr double negligible_kernel_margin = 1e-6;

/// Rows that only weights of this many times (largest target / largest row) meet are called contradictory.
constexpr double contradiction = 1e9;

/// Interpolation: a share of the largest target by which a row that counts as met may be missed.
constexpr double negligible_miss = 1e-6;

/// Least squares: a mean square of this share of the best constant's is that of an exact fit, whose optimum is 0.
constexpr double exact_fit = 1e-20;

/// What a solver stops at: this share of the tolerance, and an upper bound of this share of the largest row norm.
constexpr double certifiable = 0.999;
constexpr double no_margin = 0.9 * negligible_margin;

}  // namespace margin
