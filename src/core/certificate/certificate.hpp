// The proof that goes with every model, computed from (problem, primal vector, dual vector) and the rows alone. It
// knows no solver, and it is true for any pair of vectors by weak duality, converged or not.
#pragma once

#include <limits>
#include <memory>

#include "core/base/progress.hpp"
#include "core/data/basis.hpp"
#include "core/problem/problem.hpp"

namespace margin {

/// lower ≤ optimum ≤ upper. The optimum is the largest margin, which the model attains from below, so that `lower` is
/// its own; or the least risk (soft margin) or ½‖w‖_p² (interpolation), where `upper` is the model's own and `lower`
/// the dual value.
struct Certificate {
  double lower = 0, upper = 0;
  double gap = 0;            ///< ≥ 0: the width of the interval
  double relative_gap = 0;   ///< of `upper`; soft margin: of the larger of |lower| and |upper|; one against the rest:
                             ///< the largest of the outputs' own
  std::int64_t support = 0;  ///< rows with a non-zero dual weight
  double radius = 0;         ///< largest ‖x_i‖

  std::int64_t errors = 0;  ///< hard margin: rows with a margin ≤ 0; interpolation: rows missed by more than rounding
  double slack = 0;         ///< interpolation: how far inside of its interval the worst row is (negative: outside)
  double smallest_margin = -std::numeric_limits<double>::infinity();  ///< kernels: min_i margin_i / ‖w‖, soft too

  bool separates = false;  ///< lambda 0: no row is on the wrong side, and some are off the boundary

  // Interpolation: what final_status() needs to tell rows that contradict each other.
  double least_norm = 0;      ///< ‖w‖_p of any weights that meet the rows is at least this
  double largest_target = 0;  ///< the largest finite |end| of a row's interval

  double negligible = 0;  ///< counts: a mean loss of this size is that of an exact fit

  /// Not proven but counted, for a warning. `failure`: the mean loss of a regression, the weight of the rows that are
  /// predicted wrongly otherwise. train() adds the same of the best constant prediction.
  double failure = 0, constant_failure = std::numeric_limits<double>::infinity();
  /// Of classes, the mean loss of the best constant score; infinite where it is not known.
  double constant_loss = std::numeric_limits<double>::infinity();
};

struct DualPoint;  // certificate/ball.hpp

/// The certificate of returned vectors, by passes over the rows of its own. `weights`: outputs × d, or × the size of
/// `basis` (null: linear in the features); `intercept` per output; `dual` as in Solution, without rows: none, and the
/// bound that it would prove is the one that holds for any vectors. `point` (null: not wanted) becomes what
/// Check::dual_point() gives. Where rounding takes much of the gap, sums are taken again more precisely, but for a gap below
/// `enough` relative to P: that takes longer than many a solve.
Certificate certify(const Problem& problem, const Weights& weights, const Eigen::VectorXd& intercept,
                    const Weights& dual, const Basis* basis = nullptr, const Progress& progress = {},
                    std::shared_ptr<const DualPoint>* point = nullptr, double enough = 1e-10);

}  // namespace margin
