// Where the optimum of a regularised risk is: in a ball that weights and dual weights span. P (certificate/risk.hpp) and the
// Lagrangian L(·, a) under it are both μ-strongly convex in (w, b/B), and L(·, a) has its least value D(a) at a point v,
// without penalties of other kinds v = (1/λW) Σ c a (x, B). So
//   (μ/2)‖w − w*‖² ≤ P(w) − P*,   (μ/2)‖w* − v‖² ≤ L(w*, a) − D(a) ≤ P* − D(a);
// their sum is ‖w* − (w + v)/2‖² ≤ (P(w) − D(a))/μ − ‖w − v‖²/4: half as far as √(2 gap/μ) around w where w and v are far
// apart, and 0.7 times that where they agree. A free intercept has no part in it: the ball holds w alone. Several outputs,
// one against the rest, have one each; classes trained jointly share one.
#pragma once

#include <memory>
#include <vector>

#include "core/certificate/check.hpp"
#include "core/math/stored_sum.hpp"

namespace margin {

struct CurvedPoint;  // consequences/where/ellipsoid.hpp

/// μ = λ(1 − ρ), times the least penalty factor where that is below 1.
double convexity(const Objective& objective);

/// ≥ √(gap/μ − apart²/4), for a gap that is no less than P − D and any `apart` from 0 to ‖w − v‖.
double ball_radius(double gap, double convexity, double apart);

/// What a training, or an update of one, leaves behind for later proofs: of its dual weights, and of its rows where they were seen
/// once more. These are about the dual weights a whose point is v, which need not be those that prove the stored lower end:
/// that may be 0, or come from a curvature. What is known of D(a) is U − Σ slack − (μ/2)‖w − v‖², U being the stored upper end.
struct DualPoint {
  Weights offset;             ///< outputs × d: v − w; empty: less than `error`
  Eigen::VectorXd intercept;  ///< the same of the intercepts, B·v_b − b; 0 of free ones and of none
  /// ≥ P − D(a) − (μ/2)‖w − v‖² per output, one number for classes trained jointly; with what U is above P, all in all.
  std::vector<double> slack;
  std::vector<double> error;  ///< of the same: ≥ how far v is from w + offset, in the norm of (w, b/B)
  StoredSum total_weight;     ///< W
  std::shared_ptr<const std::vector<CurvedPoint>> curvature;  ///< of each output; null: not known
};

/// `point` has all but its slack, which follows from `gaps`, P − D of the same outputs. Leaves the offset out where it matters
/// little; null where a number is not finite.
std::shared_ptr<const DualPoint> stored_dual_point(const Objective& objective, DualPoint point,
                                                   const std::vector<double>& gaps);

/// What a DualPoint says of one output, of one against the rest: v less the weights, the same of the intercept, ≥ P − D(a), and
/// ≥ how far v is from there.
struct OutputPoint {
  Eigen::RowVectorXd offset;
  double intercept = 0, gap = 0, error = 0;
};
std::shared_ptr<const DualPoint> stored_dual_point(const Objective& objective, const StoredSum& total_weight,
                                                   const std::vector<OutputPoint>& outputs);

/// ‖(v − w, (v_b − b)/B)‖ of an output as `point` has it, or of all where they share a ball; up to a few ulps for each column.
double apart(const DualPoint& point, std::size_t output, double constant_feature);

/// The ball around the optimum of one model.
class Ball {
 public:
  /// `weights` (outputs × d) and `intercept` (null: zeros) are those of the model, `gap` that of all outputs together;
  /// `point` (null: not known) makes the ball smaller. With an l1_ratio of 1 it is infinite.
  Ball(const Objective& objective, const double* weights, const double* intercept, double gap, const DualPoint* point);

  /// There are `dimensions` columns now; the optimum has the weight 0 for new ones.
  void widen(std::int32_t dimensions) { margin::widen(centre_, dimensions); }

  /// lower[o] ≤ <x, w*_o> + b*_o ≤ upper[o], rounding included. Not with a free intercept.
  void scores(const Row& x, double* lower, double* upper);
  /// Whether all weights of the ball predict the same class for x. Not with a free intercept, nor for a regression.
  bool certain(const Row& x);
  /// ≥ the distance of the model's own weights (and b/B) from the optimum's.
  double distance() const { return distance_; }
  /// Of an output's share of the ball, around these weights.
  const Weights& centre() const { return centre_; }
  double radius(std::size_t output) const { return radius_[radius_.size() == 1 ? 0 : output]; }

 private:
  void take(const DualPoint& point, double mu);
  double place(const Row& x);

  Weights centre_;
  std::vector<double> intercept_, radius_, scores_;
  double constant_, distance_, largest_;  // largest_: norm of an output's centre
  double length_ = 0;                     // ≥ ‖(x, B)‖ of the row at hand
};

}  // namespace margin
