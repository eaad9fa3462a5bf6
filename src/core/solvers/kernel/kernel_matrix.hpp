// The kernel matrix K of all rows as an operator: kept, by its lower triangle, where memory allows, otherwise computed
// anew for each product. With it, what tames the systems that Newton's method has: I + S K S for a diagonal S.
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <vector>

#include "core/base/large_array.hpp"
#include "core/kernel/rows.hpp"
#include "core/solvers/run.hpp"

namespace margin {

class KernelMatrix {
 public:
  /// `bytes`: what the triangle may take. `rows` and `run` are kept by reference.
  KernelMatrix(const KernelRows& rows, double bytes, const Run& run);

  Eigen::Index size() const { return n_; }
  /// K X, for a few columns X side by side.
  Eigen::MatrixXd times(const Eigen::MatrixXd& x) const;
  /// One column.
  void column(std::size_t row, double* values) const;
  double diagonal(std::size_t row) const { return rows_.diagonal(row); }
  const Run& run() const { return run_; }
  static double triangle_bytes(double rows) { return 4 * rows * (rows + 1); }

 private:
  /// Calls visit(i, values, progress) for all rows i, on threads and in no order, with the kernel values of row i with
  /// the rows 0 to i, or to the last.
  template <class Visit>
  void each_row(bool triangle, Visit visit) const;

  Eigen::MatrixXd triangle_times(const Eigen::MatrixXd& x) const;

  const KernelRows& rows_;
  const Run& run_;
  Eigen::Index n_;
  LargeArray triangle_;  // row after row; empty: not kept
};

/// K ≈ L Lᵀ by Cholesky's method with pivots, broken off: the large eigenvalues of K, which are what makes conjugate
/// gradients take many steps.
class KernelPreconditioner {
 public:
  /// At most `rank` columns of L.
  KernelPreconditioner(const KernelMatrix& kernel, Eigen::Index rank);
  /// For the system I + S K S.
  void set(const Eigen::VectorXd& s);
  /// (I + S L Lᵀ S)⁻¹ v
  Eigen::MatrixXd solve(const Eigen::MatrixXd& v) const;

 private:
  const KernelMatrix& kernel_;
  Eigen::MatrixXd factor_;  // L
  Eigen::VectorXd s_;
  Eigen::LLT<Eigen::MatrixXd> inner_;  // of I + Lᵀ S² L
};

/// X with (I + S K S) X = B up to `tolerance` of each column's norm.
Eigen::MatrixXd solve_system(const KernelMatrix& kernel, const KernelPreconditioner& preconditioner,
                             const Eigen::VectorXd& s, const Eigen::MatrixXd& b, double tolerance);

}  // namespace margin
