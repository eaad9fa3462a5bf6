// A strictly convex quadratic program whose variables have bounds and meet linear rows:
//
//   min over d of ½ dᵀHd + <g, d>,   lower_k ≤ <a_k, d> ≤ upper_k,   low_j ≤ d_j ≤ high_j.
//
// Goldfarb & Idnani (1983): from the minimum without constraints, one constraint that does not hold after the other becomes active,
// and those whose multipliers would change their sign leave, until all hold; the dual value rises in every step, so that it ends. Rows
// that contradict each other are found where nothing can leave, with the multipliers that prove it.
#pragma once

#include <vector>

#include "core/base/progress.hpp"
#include "core/math/sparse_rows.hpp"
#include "core/math/symmetric_matrix.hpp"

namespace margin {

struct ConstrainedQp {
  const SymmetricMatrix* factor = nullptr;  ///< U of H = UᵀU, as factorise() leaves it; null: H is the identity
  std::vector<double> gradient;             ///< g, one number per variable
  const SparseRows& rows;
  std::vector<double> lower, upper;  ///< of the rows; infinite: no end
  std::vector<double> low, high;     ///< of the variables; empty: no bounds
  /// What more of a row, or of a bound, counts as met: where d is a step, the rounding of where it begins. Empty: nothing.
  std::vector<double> row_room = {}, room = {};
};

struct QpSolution {
  enum class Ending { solved, contradiction, stopped };

  Ending ending = Ending::stopped;
  std::vector<double> d;
  /// ν of each row, above 0 at its upper end and below 0 at its lower one: Hd + g + Aᵀν is 0 but where a bound holds. After a
  /// contradiction: <Aᵀν, d> ≤ Σ ν_k upper_k − … of d that meet the rows is below what any d between the bounds has.
  std::vector<double> multipliers;
  double length = 0;  ///< ‖U⁻ᵀg‖: of the minimum without constraints, whose rounding all of d has
};

QpSolution solve_constrained_qp(const ConstrainedQp& qp, const Progress& progress);

}  // namespace margin
