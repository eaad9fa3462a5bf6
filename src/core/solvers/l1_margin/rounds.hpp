// Boosting as coordinate descent: the rounds of one output, one against the rest.
//
// Problem    min over λ (and b) of L = (1/n) Σ ℓ(−m_i), m_i = y_i (Σ_j λ_j h_j(x_i) + b), ℓ(s) = eˢ or ln(1 + eˢ).
// Update     q ∝ ℓ'(−m), j = the learner of largest edge γ = |Σ q_i y_i h_j(x_i)|, λ_j moves by ± the step:
//              quadratic  ν γ                               (the minimiser of the quadratic bound L'' ≤ ‖∇L‖, times ν)
//              wolfe      α: L(α) ≤ L − α (1 − ν/2) γ‖∇L‖ and L'(α) ≥ −(1 − ν/4) γ‖∇L‖, by bisection
//              adaboost   (ν/2) ln((1 + γ)/(1 − γ))
//              optimal    ν times the minimiser along the line
//            frank_wolfe (Shalev-Shwartz, Singer 2008): λ stays in the ball ‖λ‖₁ ≤ 1 and goes a share η of the way to
//            its vertex ±e_j, on the loss β ln Σ exp(−m_i/β), β = ε/(2 ln n), whose q is ∝ exp(−m_i/β). With d_i the
//            change of m_i all the way there, η = min(1, β Σ q_i d_i / max d_i²): after 32 ln(n)/ε² rounds the margin
//            is within ε of the largest.
//            A free b is minimised out: exponential loss L = (2/n) √(A B) over the classes' sums, so that q has mass ½
//            in each; logistic loss by Newton in one variable.
// Interval   lower: the best min_i m_i/‖λ‖₁; upper: the least γ, or the edge of the q's averaged with their steps.
// Source     M. Telgarsky, Margins, shrinkage, and boosting, ICML 2013: Section 2.2 (steps), Lemmas 3.1, 3.2. The
//            paper's quadratic step divides by C_t⁴. For the exponential loss C_t = 1; for the logistic loss it is
//            e^{2nL}, a step of 0 in double precision on more than a few rows, so 1 is used there too: with ℓ'' ≤ ℓ'
//            and ℓ'(s + a) ≤ eᵃ ℓ'(s) the step ν γ still decreases L.
#pragma once

#include <vector>

#include "core/base/progress.hpp"
#include "core/options/options.hpp"
#include "core/solvers/l1_margin/weak_learners.hpp"

namespace margin {

struct BoostingRule {
  Step step = Step::wolfe;
  double shrinkage = 1;  ///< ν
  bool logistic = false;
  bool intercept = true;
  double smoothing = 1;  ///< β of frank_wolfe
};

class BoostingRounds {
 public:
  /// `y`: ±1 per row, both present.
  BoostingRounds(WeakLearners& learners, std::vector<double> y, const BoostingRule& rule, const Progress& progress);

  /// The edge γ of the current row weights; finds the learner that the next step uses.
  double find();
  /// One step along the learner that find() chose.
  void step();

  /// ln L at the current λ, b.
  double log_loss() const { return log_loss_; }
  /// min_i m_i / ‖λ‖₁ with the best b; −∞ for λ = 0.
  double margin() const;
  /// That b.
  double offset() const;
  /// The b that minimises the loss.
  double loss_offset() const { return offset_; }
  const std::vector<double>& weights() const { return weights_; }  ///< λ per learner
  /// Row weights q, sum 1 (½ per class with an intercept): of now, or the average over the steps taken.
  const Eigen::VectorXd& row_weights() const { return q_; }
  Eigen::VectorXd averaged() const { return average_ / total_step_; }
  /// Largest edge of given row weights.
  double edge_of(const Eigen::VectorXd& q);
  double steps() const { return total_step_; }                ///< Σ α
  double last_change() const { return last_change_; }         ///< of a weight, by the last step
  std::size_t last_learner() const { return last_learner_; }  ///< whose

 private:
  struct Point {
    double value, slope;  ///< L and L' along the line over L at its start
  };
  Point at(double step) const;
  Point logistic_at(double step) const;
  double size_of_step() const;
  double wolfe() const;
  double minimiser() const;
  double share_of_way();
  void move(double size);
  void weigh();
  void weigh_exponential();
  void scale_weights(const double (&factor)[2]);
  void weigh_logistic();
  double best_offset(double step, double start) const;

  WeakLearners& learners_;
  std::vector<double> y_;
  BoostingRule rule_;
  const Progress& progress_;
  Eigen::VectorXd scores_, q_, average_, h_;  // h_: y_i h(x_i) of the chosen learner, its sign in it
  Eigen::VectorXd signed_q_, trial_;          // y_i q_i of q_, and of other row weights
  std::vector<double> weights_;
  WeakLearners::Best chosen_{0, 0};
  double least_[2] = {0, 0};            // smallest y·score of each class
  double offset_ = 0;                   // the b that minimises the loss
  double log_loss_ = 0, gradient_ = 1;  // gradient_: ‖∇L‖₁ over L
  bool as_exponential_ = true;
  double sharpness_ = 1;  ///< of the exponential loss: exp(−sharpness_ m)
  double total_step_ = 0, last_change_ = 0;
  std::size_t last_learner_ = 0;
};

}  // namespace margin
