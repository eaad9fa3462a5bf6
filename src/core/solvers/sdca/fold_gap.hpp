// Both values of a fold's problem from sums over its rows.
#pragma once

#include <cmath>

#include "core/solvers/free_intercept.hpp"

namespace margin {

/// The sums, apart by the sign of a: a free intercept asks for duals with Σ c a = 0, and scales the heavier side.
class FoldSums {
 public:
  void add_loss(double loss) { loss_ += loss; }
  /// A row with a ≠ 0: c φ*(−a), c a times its score without a free intercept, c |a| and c |a| ‖x‖.
  void add_dual(bool above, double conjugate, double product, double mass, double length) {
    Side& side = above ? above_ : below_;
    side.conjugate += conjugate;
    side.product += product;
    side.mass += mass;
    side.length += length;
  }
  // λ (‖w‖² + b²/B²) = Σ c a (<x, w> + b), since w = Σ c a x/λ and b = B² Σ c a/λ: w itself may be long. Of a free
  // intercept without b.
  double primal() const { return loss_ + 0.5 * (above_.product + below_.product); }
  /// Of a free intercept a bound: φ*(−θa) ≤ θ φ*(−a), and ‖w‖² changes by what the scores say of it, but for the square
  /// of the change.
  double dual(bool free_intercept, double lambda) const {
    const double penalty = 0.5 * (above_.product + below_.product);
    if (!free_intercept) return -above_.conjugate - below_.conjugate - penalty;
    const Balance share = Balance::of(above_.mass, below_.mass);
    const double up = 1 - share.positive, down = 1 - share.negative;
    const double lost = up * above_.length + down * below_.length;
    return -share.positive * above_.conjugate - share.negative * below_.conjugate - penalty + up * above_.product +
           down * below_.product - 0.5 * lost * lost / lambda;
  }

 private:
  struct Side {
    double conjugate = 0, product = 0, mass = 0, length = 0;
  };
  double loss_ = 0;
  Side above_, below_;
};

}  // namespace margin
