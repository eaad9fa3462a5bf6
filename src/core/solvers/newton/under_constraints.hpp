// Newton's method where sums of weights meet constraints: every step is the minimum of the second-order model under them
// (math/constrained_qp.hpp), so that the weights always do, and the model's multipliers ν make the dual point. With v = Σ cost a x in
// the conjugate of the penalty replaced by v − Aᵀν,
//   P − D = the gap of the penalty at w and v − Aᵀν + Σ_k (ν_k u_k or ν_k l_k) − <ν, A w> + the gaps of the rows,
// all three 0 or more. Sequential quadratic programming of a convex problem: Nocedal & Wright (2006), Chapter 18.
#pragma once

#include <vector>

#include "core/math/constrained_qp.hpp"
#include "core/solvers/newton/rows.hpp"

namespace margin {

class UnderConstraints {
 public:
  /// `multipliers`: ν, in units of P/λ, which stay the caller's; empty ones become 0.
  UnderConstraints(const NewtonRows& rows, std::vector<double>& multipliers);

  /// What of P − D is the penalty's and the constraints', for r = w − v: without constraints NewtonRows::penalty_gap().
  double penalty_gap(const std::vector<double>& w, const std::vector<double>& r) const;
  /// The most that <v, w> − ½‖w‖² is, w between the bounds and under the constraints, as far as ν proves it.
  double conjugate_penalty(const std::vector<double>& v) const;
  /// d = −H⁻¹ r, or the step under constraints and bounds with their ν; `factor`: U of H = UᵀU.
  void step(const SymmetricMatrix& factor, const std::vector<double>& w, const std::vector<double>& r,
            std::vector<double>& d);

 private:
  /// Weights that constraints hold at 0 are 0, not what rounding leaves: a sum of nothing else misses its end by all of that.
  void drop_rounding(const SymmetricMatrix& factor, const std::vector<double>& w, double length,
                     std::vector<double>& d) const;

  const NewtonRows& rows_;
  std::vector<double>& multipliers_;
};

}  // namespace margin
