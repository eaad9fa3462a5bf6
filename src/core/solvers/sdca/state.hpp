// One output's coordinate ascent: the dual variables beside what a step needs of their rows, and the primal vector that
// follows from them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/base/progress.hpp"
#include "core/loss/loss.hpp"
#include "core/problem/problem.hpp"
#include "core/simd/cut_sums.hpp"
#include "core/solvers/run.hpp"
#include "core/solvers/sdca/shuffle.hpp"
#include "core/solvers/solver.hpp"

namespace margin {

/// One row and its dual variable. One cache line, because a visit in random order pays for every line it touches.
struct alignas(64) Coordinate {
  Row x;
  double a = 0;      ///< α, per unit of weight (loss/loss.hpp)
  double s = 0;      ///< scale · (‖x‖² + B²)
  double scale = 0;  ///< c / (λ(1−ρ)W): what a unit of a adds to the (unthresholded) weights, in units of x
  double y = 0;
};

/// Why no method that visits rows by their numbers can do a problem; empty: it can.
inline std::string rows_limit(const Problem& p) {
  return p.rows() > std::numeric_limits<std::int32_t>::max() ? "it has more rows than 32 bits count" : "";
}

/// The state of Shalev-Shwartz & Zhang's procedure for P and D of certificate/risk.hpp. `z` = v/(λ(1−ρ)) is kept beside
/// w = soft(z, ρ/(1−ρ)), cut to the bounds of the weights, only for an elastic net or where a weight was found outside; otherwise w is z. The
/// conjugate of the penalty stays as smooth between bounds, so that the steps are the same.
///
/// A free intercept moves in proximal steps: the problem that is ascended has the penalty λ(1−ρ)/2 ((b − centre)/B)² on
/// it, with a B of the solver's own, and recentre() moves the centre to where b has come. At rest Σ c a = 0.
class SdcaState {
 public:
  /// Keeps references to the problem and to `run`, which its passes over the rows poll.
  SdcaState(const Problem& problem, Run& run);

  /// Turn to output `o`: outcomes of that output, a = 0, w = 0, rows of zeros solved in closed form.
  void start_output(std::int32_t o);
  /// Set all a (projected onto the domain) and the weights that follow.
  void set_duals(const std::vector<double>& a);
  /// Weights, intercept and a into column `o` of a solution.
  void store(std::int32_t o, Solution& solution) const;
  /// w(a) from a, in one pass, without the drift of updates.
  void refresh_weights();
  /// Weights that have left their bounds are cut to them, from here on at every step: most bounds hold nothing, and cost nothing.
  void keep_bounds();

  /// <x, w> + b
  double score(const Row& x) const {
    const auto n = static_cast<std::size_t>(x.count);
    const double* const w = weights.data();
    if (x.indices == nullptr)
      return intercept + (x.wide ? kernels_.dot_dd(x.doubles(), w, n) : kernels_.dot_fd(x.floats(), w, n));
    return intercept + (x.wide ? kernels_.sparse_dot_d(x.doubles(), x.indices, w, n)
                               : kernels_.sparse_dot_f(x.floats(), x.indices, w, n));
  }
  /// The centre of a free intercept moves to b, and b as far again: what Σ c a says about the next centre. Returns how far.
  double recentre() {
    const double moved = intercept - centre;
    centre = intercept;
    intercept += moved;
    return moved;
  }
  bool free_intercept() const { return problem.free_intercept; }
  /// ‖x‖ of a row of weight above 0.
  double length(const Coordinate& row) const { return std::sqrt(std::max(0.0, row.s / row.scale - scale_squared_)); }
  /// A new a, and the weights follow. To the bit: the sum of the old one and a step may lie beyond an end of the domain.
  void move(Coordinate& row, double a) {
    const double t = row.scale * (a - row.a);
    row.a = a;
    intercept += t * scale_squared_;
    if (z.empty())
      add(t, row.x, weights.data());
    else if (threshold > 0)
      add_thresholded(row.x, t);
    else
      add_cut(row.x, t);
  }
  /// ((1−ρ)/2)(‖w‖² + (b/B)²) + ρ‖w‖₁, times λ.
  double penalty() const;
  /// The conjugate's share of the dual value at these weights: (λ(1−ρ)/2)(‖w‖² + (b/B)²); between bounds that is
  /// λ(1−ρ) Σ_j (z_j w_j − w_j²/2 − ρ/(1−ρ) |w_j|) and the same of b.
  double conjugate_penalty() const;

  const Problem& problem;
  double convexity;                   ///< λ(1−ρ); c/W of a row is scale · convexity
  double threshold;                   ///< ρ/(1−ρ)
  std::vector<Coordinate> rows;       ///< in the order of the data
  std::vector<std::int32_t> movable;  ///< rows whose a is not known in closed form
  std::vector<double> weights, z;
  double intercept = 0;
  double centre = 0;          ///< of the proximal steps of a free intercept, else 0
  const Stretches stretches;  ///< of rows in a file

 private:
  double own_scale_squared() const;
  void add_thresholded(const Row& x, double t);
  void add_cut(const Row& x, double t);
  double squares() const;
  /// The weight that follows from z_j.
  double weight_of(std::size_t j) const {
    const double w = std::copysign(std::max(0.0, std::fabs(z[j]) - threshold), z[j]);
    return bounded_ ? std::min(std::max(w, low_[j]), high_[j]) : w;
  }

  Run& run_;
  const SimdLoops& kernels_;
  const CutSums cut_sums_;
  double scale_squared_ = 0;  // B², 0 without intercept
  const bool bounded_;
  std::vector<double> low_, high_;  // of each weight, where there are bounds: looked up at every step
};

}  // namespace margin
