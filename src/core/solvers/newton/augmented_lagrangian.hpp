// The augmented Lagrangian of a piecewise linear loss on one set of rows, with the rest of the rows held fixed.
#pragma once

#include <memory>

#include "core/solvers/newton/conjugate_gradients.hpp"
#include "core/solvers/newton/gram.hpp"
#include "core/solvers/newton/newton.hpp"
#include "core/solvers/newton/under_constraints.hpp"

namespace margin {

/// The form that all piecewise linear losses share (BoxRows in simd/loops.hpp).
struct BoxLoss {
  explicit BoxLoss(const Loss& loss);
  double low(double y) const { return low0 + low1 * y; }
  double high(double y) const { return high0 + high1 * y; }
  double low0, low1, high0, high1, epsilon;
};

/// The size of a residual at the scores u, in whose inverse κ is measured: 1 for margins, the mean absolute one for a regression.
double residual_scale(const NewtonProblem& problem, const std::vector<double>& u);

/// min ½‖w‖² − <fixed, w> + Σ cost_i φ(<x_i, w>): `fixed` is Σ cost a x of the rows held at their a. Keeps w, a, u
/// consistent between calls of solve(). A free intercept is not part of ½‖w‖², and at its best whenever a is taken; the
/// rows must be able to outweigh the fixed ones.
class AugmentedLagrangian {
 public:
  AugmentedLagrangian(const NewtonProblem& part, const BoxLoss& box, std::vector<double> fixed);

  std::vector<double> w, a, u;
  double kappa = 0;                 ///< the proximal weight of row i is κ·cost_i
  double largest_kappa = 1e12;      ///< for residuals of about 1: to be divided by residual_scale()
  std::vector<double> multipliers;  ///< of constraints on w

  /// Inner and outer iterations until the gap of this set of rows is at most `gap`. False when a limit (`steps`, or one
  /// of the progress) was hit or no progress is left. `known_primal`: an upper bound of the whole problem,
  /// `fixed_dual`: the dual's share of the fixed rows, both for the record.
  bool solve(double gap, int steps, double known_primal, double fixed_dual, NewtonProgress* progress);

  /// Fenchel-Young gaps of these rows plus ½‖w − v‖²: the gap if the fixed rows stay on their pieces.
  double gap() const { return 0.5 * residual_ + excess_; }
  double norm_w() const;
  double dual() const { return -conjugate_ - 0.5 * norm_v_; }
  double primal_loss() const { return loss_; }
  const std::vector<double>& image() const { return v_; }

 private:
  /// Of the columns that are penalised.
  double inner_product(const std::vector<double>& v, const std::vector<double>& w) const;
  void centre();
  void settle(std::vector<double>& next);
  void evaluate(bool fresh);
  bool direction();
  bool factored();
  void line_search();
  BoxRows rows(double proximal) const;

  const NewtonProblem& p_;
  UnderConstraints under_;
  const BoxLoss& box_;
  std::vector<double> fixed_;
  std::vector<double> a_old_, du_, free_, gram_free_, v_, r_, d_;
  struct Dense {
    Dense(const NewtonRows& rows, std::size_t size) : sum(rows), gram(size), factor(size) {}
    GramSum sum;
    SymmetricMatrix gram, factor;
    bool known = false;  ///< gram holds the rows of gram_free_
  };
  std::unique_ptr<Dense> dense_;
  std::unique_ptr<ConjugateGradients> gradients_;
  double loss_ = 0, conjugate_ = 0, residual_ = 0, excess_ = 0, norm_v_ = 0;
};

}  // namespace margin
