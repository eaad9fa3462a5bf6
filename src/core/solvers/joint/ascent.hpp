// Crammer–Singer by dual coordinate ascent, one row with all its classes at a time.
//
// Problem    max D(p) of certificate/joint.hpp over p_i in the simplex, with the hinge; no free intercept.
// Update     row i's p to its maximum with all others as they are: the projection of p_i + (s_i + 1 − e_y)/q_i onto the
//            simplex, q_i = cost_i ‖x_i‖²; W follows. For a part of the time all rows together, within the face that p is
//            on (face.hpp).
// Shrinking  A visit looks at the classes only that have weight or were near to having some, and rows where that is one
//            class are not visited. Every bound is taken over all rows and classes, and says which of them come back:
//            those whose scores are off, or nearer than `slack` to being off; it is halved from bound to bound.
// Stop       P − D ≤ tolerance · P, or the gap stays where it is and Newton's method should go on.
// Source     Keerthi, Sundararajan, Chang, Hsieh, Lin (2008), KDD: a sequential dual method for large-scale multi-class
//            linear SVMs.
#pragma once

#include <optional>

#include "core/base/random.hpp"
#include "core/solvers/joint/face.hpp"

namespace margin {

class JointAscent {
 public:
  JointAscent(const JointRows& rows, const JointTerms& terms, JointNewton& newton, std::uint64_t seed, Run& run,
              const std::int64_t& iterations);
  static double workspace(const Problem& problem);

  /// From point.p; point.w becomes the weights of it. Status optimal, or a limit; nothing: the gap no longer closes.
  std::optional<Status> solve(JointPoint& point);

 private:
  double visit(JointPoint& point, std::int64_t i);
  double sweep(JointPoint& point);
  bool sweeps(JointPoint& point, double slack);
  void wake(const JointPoint& point, double slack);

  const JointRows& rows_;
  const JointTerms& terms_;
  JointNewton& newton_;
  Random random_;
  Run& run_;
  const std::int64_t& iterations_;
  JointFace face_;
  std::vector<std::int32_t> order_;    // the rows that are visited
  std::vector<std::int32_t> classes_;  // of every row, those that are looked at first
  std::vector<std::int32_t> active_;   // how many they are
  std::vector<double> scores_, z_, scratch_;
  int products_;
  double wanted_ = 0;                   // the gap
  double visited_ = 0, face_cost_ = 0;  // visits since the last step on a face, and what that cost
};

/// What the solver joint does from a point: of the logistic loss from its weights, of the hinge from its p. `newton` may have pieces.
Status solve_joint(const JointRows& rows, const JointTerms& terms, JointNewton& newton, std::uint64_t seed, Run& run,
                   const std::int64_t& iterations, JointPoint& point);

}  // namespace margin
