// What the kinks of the hinge add to the balls between two lambdas (consequences/between/between.hpp). For dual weights a, their point v
// and any w',
//   P(w') − D(a) = (λ/2)‖w' − v‖² + (1/W) Σ c F(u'),   F(u) = φ(u) + φ*(−a) + au,
// which of the hinge, with β = ay in [0, 1], is (1 − β)(1 − yu) below the kink at yu = 1 and β(yu − 1) above it: no less than
// min(β, 1−β) times the distance from it. As P(w*) ≤ P(w) − (λ/2)‖w − w*‖², at the optimum
//   λ‖w* − (w + v)/2‖² + Σ m|y − u*| ≤ R = s + (λ/4)‖w − v‖²,   m = (c/W) min(β, 1−β),
// where the ball has the first term alone. So for any coefficients of rows that are between both ends of their domain, x = Σ k_i x_i + r,
//   x·w* ≤ Σ k_i y_i + r·(w + v)/2 + max over 0 ≤ E ≤ R of hE + ‖r‖√((R − E)/λ),   h = max |k_i|/m_i,
// and that is hR + ‖r‖²/(4hλ), or the ball's ‖r‖√(R/λ) where ‖r‖²/(4h²λ) ≥ R. R is of second order in the distance of both
// ends: where such rows span most of x, its score is known far better than by the ball. Of mixed dual weights min(β, 1−β) is
// concave in θ, and so no less in a range than at one of its borders.
#pragma once

#include <vector>

#include "core/consequences/between/between.hpp"
#include "core/problem/problem.hpp"
#include "core/simd/loops.hpp"

namespace margin {

/// The point of these weights and dual weights (one output, per unit of a row's weight), which are brought into their domain.
/// The loss is the hinge, without a free intercept.
PathPoint kink_point(const Problem& problem, double constant, double lambda, const double* weights, double intercept,
                     std::vector<double>& dual, const Progress& progress);

class KinksBetween {
 public:
  /// All of it but the borders is kept by reference. `borders`: of ranges of lambda within a.lambda and b.lambda; the fewer they
  /// are, the more rows are between both ends in all of them.
  KinksBetween(const Problem& problem, double constant, const PathPoint& a, const std::vector<double>& dual_a,
               const PathPoint& b, const std::vector<double>& dual_b, std::vector<double> borders,
               const Progress& progress);

  /// Whether it is about such problems, and these are small enough.
  static bool knows(const Problem& problem, double constant);
  /// Bytes that it takes.
  static double bytes(const Problem& problem);

  /// Rows that are bounded together.
  static constexpr std::size_t group = tile_rows;
  /// The row of that place in the group.
  void take(std::size_t place, const Row& x);
  /// k and r of the rows that were taken.
  void split();
  /// ≥ sign·(the score of the row there) at the optima of a range.
  double highest(std::size_t place, double sign, std::size_t range) const;

 private:
  struct Basic {
    std::size_t row;
    double y, weight;  ///< of x xᵀ in A: k = weight x·A⁻¹x is about the best
  };

  const Problem& p_;
  const double constant_;
  const PathPoint &a_, &b_;
  const std::vector<double> borders_;
  const Progress& progress_;
  const BallBetween ball_;
  const std::size_t columns_;
  std::vector<Basic> basic_;
  std::vector<double> steepness_;               // ≥ 1/m, range by range
  std::vector<double> budget_, error_;          // of the balls of a range
  double size_ = 0;                             // ≥ the norms of points and optima
  std::vector<double> rows_, turned_;           // of the basic rows, with the constant: by rows, by columns
  std::vector<double> lower_, upper_, pivots_;  // A as L and Lᵀ by rows, inverses of the diagonal
  std::vector<const double*> row_at_, column_at_;
  // Of the rows at hand, place by place.
  std::vector<double> tile_, way_, share_, rest_, steepest_;  // the last: h, range by range
  double met_[group], length_[group], rounding_[group];
  EndProducts at_a_[group], at_b_[group];
};

}  // namespace margin
