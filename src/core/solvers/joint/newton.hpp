// Newton's method on the weights of all classes at once.
//
// Problem    min F(W) = ½‖W‖² + Σ cost_i φ(s_i; y_i) = P/λ of certificate/joint.hpp, cost_i = c_i/(λW); with a linear term for the rows
//            that are somewhere else (scans/methods/joint_scans.cpp).
// Update     multinomial: truncated Newton with conjugate gradients (curvature.hpp) and backtracking. The gap of the p
//            of its scores is ½‖gradient‖².
//            Crammer–Singer: an augmented Lagrangian. A round minimises F with the proximal losses of terms.hpp by the
//            same steps (semismooth Newton), and takes over their p; κ falls from round to round.
//            A free intercept has no penalty: before a dual value is taken it is moved to its best value for the
//            weights, by Newton steps in as many variables as there are classes.
// Stop       P − D ≤ tolerance · P.
// Source     Krishnapuram et al. (2005), PAMI 27, for the bound of the Hessian's blocks that let classes be preconditioned
//            one by one; Li, Sun, Toh (2018), SIAM J. Optimization 28, for the augmented Lagrangian.
#pragma once

#include "core/solvers/joint/curvature.hpp"

namespace margin {

/// Where a solve is: weights, scores and p of all rows.
struct JointPoint {
  LargeArray w;     // JointRows::size()
  LargeArray s, p;  // rows × stride
};

/// What F has besides: − <weights, W> + constant.
struct JointPieces {
  LargeArray weights;  // JointRows::size()
  double constant = 0;
  double kappa = 0;  // of the hinge, where to begin, and then where it ended; 0: as without a p that is near
  double gap = 0;    // in place of the tolerance: with a linear term F may be anything
};

class JointNewton {
 public:
  JointNewton(const Problem& problem, const JointRows& rows, const JointTerms& terms, double tolerance, Run& run,
              std::int64_t& iterations);
  static double workspace(const Problem& problem);

  /// From point.w; of the hinge also from point.p.
  Status solve(JointPoint& point);
  /// F has these as well from now on, which are kept by pointer; null: none.
  void set_pieces(JointPieces* pieces) { pieces_ = pieces; }
  /// W of the dual weights: v = Σ cost (e_y − p) x, and the weights of the pieces.
  void weights_of(const LargeArray& p, LargeArray& v);
  /// ½‖w‖² without what is not penalised.
  double penalty(const LargeArray& w) const;
  /// What the pieces are at w, and their part of a dual value.
  double of_pieces(const LargeArray& w) const;
  double constant() const { return pieces_ != nullptr ? pieces_->constant : 0; }
  /// One line of the history, from P/λ and D/λ.
  void record(double primal, double dual);
  bool reached(double primal, double dual) const { return primal - dual <= wanted_gap(primal); }
  /// A tenth is left for the rounding bounds of the certificate.
  double wanted_gap(double primal) const { return 0.9 * asked_gap(primal); }

 private:
  double asked_gap(double primal) const { return pieces_ != nullptr ? pieces_->gap : tolerance_ * primal; }
  Status multinomial(JointPoint& point);
  Status crammer_singer(JointPoint& point);
  double gradient(const JointPoint& point);
  bool descend(JointPoint& point, double residual, const LargeArray* start, double kappa, JointSums& sums);
  void balance(JointPoint& point, const LargeArray* start, double kappa, JointSums& sums);
  bool balance_step(const JointPoint& point, double kappa, std::vector<double>& step);
  double piece_of_intercept(std::size_t c) const;
  double imbalance(const JointPoint& point) const;

  const JointRows& rows_;
  const JointTerms& terms_;
  double lambda_, tolerance_;
  Run& run_;
  std::int64_t& iterations_;
  JointCurvature curvature_;
  LargeArray gradient_, direction_, slopes_, moves_, trial_s_, trial_p_;
  double cost_ = 0;  // of all rows
  JointPieces* pieces_ = nullptr;
};

}  // namespace margin
