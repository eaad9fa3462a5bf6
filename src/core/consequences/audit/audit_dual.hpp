// One output of an audit: the best of the dual values that its sums give, at any lambda.
#pragma once

#include <vector>

#include "core/consequences/audit/audit.hpp"

namespace margin {

class KinkAscent;

class AuditedOutput {
 public:
  static constexpr int most_sides = 10;
  /// A number for each side of each smoothing.
  using PerSide = Eigen::Matrix<double, Eigen::Dynamic, 1, Eigen::ColMajor, most_sides, 1>;

  /// `audit` is kept by reference.
  AuditedOutput(const Audit& audit, std::size_t output);

  /// P, rounded up, and D, rounded down.
  double primal(double lambda) const;
  /// `curve`: by one of the Newton steps alone, or, where it is −1, by the best, whose number is returned in its place (−1:
  /// a mixture is better).
  double dual(double lambda, const Progress& progress, int* curve = nullptr) const;
  /// Better dual values of the rows next to kinks, at most `visits` times one of them. dual() then knows of them.
  void ascend(double lambda, double visits, const Progress& progress);
  /// D of these is the first less the second/(2λ), in plain arithmetic.
  double ascended_conjugate() const;
  double ascended_square() const;
  /// The same of mixtures alone, in plain arithmetic: to search by.
  double quick_dual(double lambda) const;
  double quick_primal(double lambda) const { return mean_loss_ + lambda * penalty_; }
  /// The mean loss, and what lambda multiplies.
  double mean_loss() const { return mean_loss_; }
  double penalty() const { return penalty_; }
  /// Where ‖v‖ and λ‖w‖ are the same; 0 or infinite: nowhere.
  double balanced_lambda() const;

 private:
  /// Dual values as sums, to be bounded.
  struct Sums {
    Eigen::VectorXd rows;
    double conjugate = 0, size = 0, mass = 0, unseen = 0, coefficient = 0, absolute = 0, depth = 0;
  };
  /// Mixtures are then a first guess, whose last digits are of no use.
  bool has_kinks() const { return !sums_.kept.rows().empty(); }
  PerSide mixture(double lambda, double tolerance, int steps) const;
  double dual_of(const Sums& sums, double lambda) const;
  Sums mixed(const PerSide& shares) const;
  Sums first() const;
  double dual_of_ascent(double lambda, const Progress& progress) const;
  double dual_of_step(const DualCurve& curve, double lambda, const Progress& progress) const;
  struct Step;
  Step step_of(const DualCurve& curve, double lambda, const Progress& progress) const;
  RiskCheck check(double lambda, bool with_dual, std::vector<double>& numbers) const;

  const Audit& audit_;
  const Audit::Output& sums_;
  const double* weights_;
  double intercept_, total_, constant_;
  double mean_loss_ = 0, penalty_ = 0;
  std::vector<double> numbers_;           // of this output, as RiskCheck::state() has them
  std::vector<Eigen::VectorXd> vectors_;  // Σ c a x of every side
  /// Of them, over W², with the penalty factors and the intercept.
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, most_sides, most_sides> products_;
  PerSide values_, masses_;  // Σ c (−φ*)/W, |Σ c a|/W
  std::shared_ptr<KinkAscent> ascent_;
};

}  // namespace margin
