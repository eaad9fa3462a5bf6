// What bounds of weights cost: by how much the optimum of the objective changes per unit of a bound that a weight is at.
//
// The dual value D of certificate/risk.hpp has the ends of a box in Σ_j T_j(v_j) alone, so that by the envelope theorem dP*/du_j is the
// derivative of λ f_j ((1−ρ)/2 w² + ρ|w|) − v_j w at w = u_j where that is below 0, and dP*/dl_j that at l_j where it is above 0. At
// 0 the derivative of |w| is that towards which the weight would move.
#pragma once

#include "core/base/progress.hpp"
#include "core/problem/problem.hpp"

namespace margin {

/// Of each weight that is at a bound that holds it, in the units of the problem: below 0 for an upper one, above 0 for a lower one; 0 of the
/// others. outputs × features, as `v`, which is Σ c a x/W; `multipliers` of the constraints, as Constraints has them.
Weights bound_prices(const Statement& statement, const Weights& weights, Weights v, const Weights& multipliers);

/// Whether a weight is at a bound: without one all prices are 0, whatever v is.
bool at_bound(const Statement& statement, const Weights& weights);

/// That v. `dual`: rows × outputs, as a Solution has it; empty: −φ' of the scores, of a smooth loss.
Weights image_of_rows(const Problem& problem, const Weights& weights, const Eigen::VectorXd& intercept,
                      const Weights& dual, const Progress& progress);

}  // namespace margin
