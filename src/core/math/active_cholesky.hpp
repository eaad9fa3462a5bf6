// The Cholesky factor of a Gram matrix whose rows come and go: append O(s²), one or a block at once, remove O(s²) by
// Givens rotations, solve O(s²). Refactoring at every change of an active set would cost O(s³) each time.
#pragma once

#include <Eigen/Core>
#include <functional>

#include "core/base/progress.hpp"

namespace margin {

/// L Lᵀ = G over an ordered set of s members, with p right-hand sides Y = L⁻¹ B carried along.
///
/// Two ways to append: from inner products, which is quick but sees the square of the condition number, or from the
/// vectors themselves (an orthonormal basis Q is carried along, L = Rᵀ of their QR factorisation), which does not.
class ActiveCholesky {
 public:
  /// `dimension` > 0: members are appended as vectors of that many entries, the last p of which are their entries of B.
  explicit ActiveCholesky(Eigen::Index right_hand_sides, Eigen::Index dimension = 0)
      : p_(right_hand_sides), dimension_(dimension) {}

  /// Told of the operations where the arrays grow, which at thousands of members takes a while; may throw.
  void set_progress(const Progress* progress) { progress_ = progress; }

  Eigen::Index size() const { return size_; }
  void clear() { size_ = 0; }

  /// Append a member: `cross` = its s inner products with the members, `square` its own, `rhs` its p entries of B.
  /// Returns the pivot relative to `square`; where that is below `floor` (the member nearly depends on the others)
  /// the pivot is raised to the floor, so that the factor stays usable and the returned value tells.
  double append(const Eigen::VectorXd& cross, double square, const Eigen::VectorXd& rhs, double floor);

  /// The same of k members at once, which reads L once for all of them: `cross` s × k, `squares` their k × k inner
  /// products, `rhs` k × p.
  void append_block(Eigen::MatrixXd cross, const Eigen::MatrixXd& squares, const Eigen::MatrixXd& rhs, double floor);

  /// The same from the vector itself; `floor` bounds the pivot relative to the vector's norm.
  double append_vector(const Eigen::VectorXd& v, double floor);

  /// Remove the member at position `at`; later members move up by one.
  void remove(Eigen::Index at);

  /// Y (s × p), for the p × p system of the multipliers.
  auto reduced() const { return y_.topLeftCorner(size_, p_); }

  /// x with Lᵀ x = v (v of length s).
  Eigen::VectorXd solve_transposed(Eigen::VectorXd v) const;
  /// x with L x = v.
  Eigen::VectorXd solve_lower(Eigen::VectorXd v) const;

 private:
  void reserve(Eigen::Index n);
  /// A copy of `m` with so many rows and columns, zeros where it had none.
  Eigen::MatrixXd grown(const Eigen::MatrixXd& m, Eigen::Index rows, Eigen::Index columns) const;

  Eigen::Index p_, dimension_, size_ = 0;
  const Progress* progress_ = nullptr;
  Eigen::MatrixXd l_;  // column-major: solves and rotations run down contiguous columns
  Eigen::MatrixXd y_;
  Eigen::MatrixXd q_;  // dimension × size, orthonormal columns; empty when appending inner products
};

}  // namespace margin
