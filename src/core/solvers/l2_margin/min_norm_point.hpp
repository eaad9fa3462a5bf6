// The point of least norm in the hull of a working set of pairs:
//
//   min ½‖Σ q_j z_j‖²   over q ≥ 0, A q = r
//
// A q = r says: weights sum to 1 and, with a free intercept, every class sends as much weight as it receives (two
// classes: ½ and ½, the distance of two hulls). Active-set method in the manner of Wolfe (1976): solve the equality
// problem on the members, walk towards it until a weight reaches 0, drop that member, repeat; then enter the pair
// with the most negative reduced gradient, or a block of such pairs: those of them that the equality problem wants below
// 0 leave again before anything moves. One at least stays, as Σ gradient_j target_j < 0 over the block, so that the norm
// falls as it does for a single pair. The Cholesky factor is that of G + AᵀA, which is positive definite even where G is
// not, and has the same solution because A q is fixed.
//
// Philip Wolfe, Finding the nearest point in a polytope, Mathematical Programming 11 (1976).
#pragma once

#include <functional>

#include "core/base/progress.hpp"
#include "core/math/active_cholesky.hpp"
#include "core/solvers/l2_margin/working_set.hpp"

namespace margin {

class MinNormPoint {
 public:
  /// How inner products are obtained: from the working set's Gram matrix, quick, but with an error of 1e-16 R² next to
  /// ‖w‖²; or from the rows, with an orthogonal factor and a w that carries more digits than Σ q z can, slower, for
  /// margins below 1e-6 of the largest row.
  enum class Precision { gram, rows };
  /// Problem, working set and progress are kept by reference.
  MinNormPoint(const Problem& problem, const WorkingSet& working_set, Precision precision, const Progress& progress);

  enum class Ending { optimal, stalled, stopped };

  /// Starts from given feasible members (weights > 0 satisfying A q = r), or none: chosen from the working set.
  /// Until the reduced gradient of every working set pair is ≥ −tolerance · ‖w‖².
  /// `stop` (empty: never) is asked after every member that enters; the point so far is one of the hull all the same.
  Ending solve(double tolerance, const std::function<bool()>& stop = {});

  const std::vector<Eigen::Index>& members() const { return members_; }
  const Eigen::VectorXd& weights() const { return q_; }
  /// Multipliers: reduced gradient of pair j is <z_j, w> − <a_j, multipliers>.
  const Eigen::VectorXd& multipliers() const { return eta_; }
  double reduced(const Pair& p, double product) const { return product - constraint_dot(p, eta_); }
  double squared_norm() const { return squared_norm_; }
  /// One class offset per class out of the multipliers (zeros without a free intercept).
  Eigen::VectorXd offsets() const;
  /// w as outputs × d, scaled as the working set's vectors; in either precision refined against products from the rows.
  Weights primal();

 private:
  const Eigen::VectorXd& constraint(const Pair& p);  // a: the pair's column of A, until the next call
  double constraint_dot(const Pair& p, const Eigen::VectorXd& v) const;
  double constraint_gram(const Pair& p, const Pair& q) const;
  double inner(Eigen::Index i, Eigen::Index j) const;  // of G + AᵀA
  /// One step of refinement: the members' products become equal to what the multipliers say.
  Eigen::VectorXd refinement(const Weights& w);
  void refine_weights();
  void refine_primal();
  Eigen::VectorXd pool_products() const;
  /// WorkingSet pairs of most negative reduced gradient, below `bound`.
  std::vector<Eigen::Index> violators(const Eigen::VectorXd& products, double bound) const;
  double member_product(Eigen::Index j) const;  // <z_j, w> from the Gram matrix
  /// Multipliers as the weighted mean of the members' products, which keeps the digits that ν − r loses.
  void measure_multipliers(const Eigen::VectorXd& products);
  void choose_start();
  void enter(Eigen::Index pool_index);
  void enter_all(const std::vector<Eigen::Index>& pool_indices);
  void drop(Eigen::Index position);
  void refactor();
  /// Solution of the equality problem on the members; sets the multipliers.
  Eigen::VectorXd equality_solution();
  /// `entered`: so many members at the end came at once, with weight 0.
  void minor_cycles(Eigen::Index entered = 0);
  /// Yᵀ Y of the reduced factor, which is where many classes spend their time.
  Eigen::MatrixXd normal_matrix(const Eigen::MatrixXd& y) const;

  const Problem& problem_;
  const WorkingSet& working_set_;
  Precision precision_;
  Eigen::Index p_;  // number of equality constraints
  Eigen::VectorXd r_;
  std::vector<Eigen::Index> members_;
  std::vector<char> is_member_;
  Eigen::VectorXd q_, eta_, constraint_;
  Weights w_;  // precision `rows`: Σ q z and corrections smaller than q's last digit
  double squared_norm_ = 0;
  ActiveCholesky factor_;
  int changes_since_refactor_ = 0;
  const Progress& progress_;
};

}  // namespace margin
