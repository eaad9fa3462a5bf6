// Crammer–Singer by dual coordinate ascent, one row with all its classes at a time.
//
// Problem    max D(p) of certificate/joint.hpp over p_i in the simplex, with the hinge; no free intercept.
// Update     row i's p to its maximum with all others as they are: the projection of p_i + (s_i + 1 − e_y)/q_i onto the
//            simplex, q_i = cost_i ‖x_i‖²; W follows.
// Shrinking  Most visits look at the classes only that had weight, or were near to having some, when all classes of the
//            row were looked at last, and skip rows where that is none but the row's own. Every bound is taken over all
//            rows and classes.
// Stop       P − D ≤ tolerance · P, or `enough` says that Newton's method should go on.
// Source     Keerthi, Sundararajan, Chang, Hsieh, Lin (2008), KDD: a sequential dual method for large-scale multi-class
//            linear SVMs.
#pragma once

#include <optional>

#include "core/base/random.hpp"
#include "core/solvers/joint/newton.hpp"

namespace margin {

class JointAscent {
 public:
  JointAscent(const JointRows& rows, const JointTerms& terms, JointNewton& newton, std::uint64_t seed, Run& run,
              const std::int64_t& iterations);
  static double workspace(const Problem& problem);

  /// From point.p; point.w becomes the weights of it. `longest`: visits of all rows, in all, that Newton's method would
  /// cost. Status optimal, or a limit; nothing: the gap does not close in that time.
  std::optional<Status> solve(JointPoint& point, double longest);

 private:
  bool visit(JointPoint& point, std::int64_t i, bool all);
  void keep(const JointPoint& point, std::int64_t i, const double* z, double threshold);
  double epoch(JointPoint& point, bool all);

  const JointRows& rows_;
  const JointTerms& terms_;
  JointNewton& newton_;
  Random random_;
  Run& run_;
  const std::int64_t& iterations_;
  std::vector<std::int32_t> order_;
  std::vector<std::vector<std::int32_t>> active_;  // per row; empty: all
  std::vector<double> scores_, z_, change_;
};

}  // namespace margin
