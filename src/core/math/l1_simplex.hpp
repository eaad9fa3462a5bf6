// The exact l1 margin of a working set of rows: a linear program with one variable per weak learner, of which few are
// not 0.
//
//   max γ  such that  y_i (Σ_j λ_j h_j(x_i) + b) ≥ γ for the rows i of the working set,  ‖λ‖₁ ≤ 1
//   min t  such that  |Σ_i q_i z_ij| ≤ t for all learners j,  q ≥ 0, Σ q = 1   (free b: 1/2 for each class)
//
// with z_ij = y_i h_j(x_i). A revised simplex that keeps the inverse of its kernel only: the rows with q_i > 0 against
// the learners with λ_j ≠ 0 (together with γ, b and the norm), as many of one as of the other, however many rows and
// learners there are. New rows are taken in by dual pivots, new learners by primal ones, both from the last vertex.
// (Dantzig 1963; Lemke 1954 for the dual pivots; Harris 1973 for the ratio test.)
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <functional>
#include <vector>

#include "core/base/progress.hpp"
#include "core/base/random.hpp"

namespace margin {

/// The entries z_ij of the rows of a working set, at most 1 in absolute value. Rows and learners may be added, never
/// removed.
class PayoffMatrix {
 public:
  virtual ~PayoffMatrix() = default;
  virtual Eigen::Index rows() const = 0;
  virtual Eigen::Index learners() const = 0;
  virtual double label(Eigen::Index row) const = 0;  ///< y_i, ±1
  virtual double entry(Eigen::Index row, Eigen::Index learner) const = 0;
  /// edges[j] += weight · z_ij for all learners j
  virtual void add_row(double weight, Eigen::Index row, double* edges) const = 0;
  virtual double row_cost() const = 0;  ///< multiply-adds of add_row
};

class L1Simplex {
 public:
  enum class Ending {
    optimal,    ///< the vertex is the optimum of the working set, to rounding
    no_margin,  ///< t = 0: q proves that the working set has no positive margin
    stopped,    ///< by `stop`: the vertex is short of the optimum, its t and q are valid
    stuck,      ///< no progress in floating point: weights and row weights are valid, their interval stays open
  };

  /// Starts at the vertex of one row of the game or, with a free intercept, of one row of each class. Ties that would
  /// let the pivots go round in circles are broken by random numbers from `seed`.
  L1Simplex(const PayoffMatrix& game, bool intercept, const std::vector<Eigen::Index>& start, std::uint64_t seed);

  /// To the optimum of all rows and learners that the game has now. `accuracy`: how far a row may stay below the
  /// margin, and an edge above it, as a share of it.
  Ending solve(double accuracy, const Progress& progress, const std::function<bool()>& stop);

  double value() const { return t_; }  ///< max γ = min t of the working set
  double intercept() const { return intercept_ ? x_(1) : 0.0; }
  const std::vector<Eigen::Index>& learners() const { return learners_; }
  double weight(std::size_t at) const { return x_(first_ + static_cast<Eigen::Index>(at)); }  ///< λ of learners()[at]
  const std::vector<Eigen::Index>& rows() const { return rows_; }
  double row_weight(std::size_t at) const {  ///< q of rows()[at]
    return std::max(0.0, q_(static_cast<Eigen::Index>(at) + 1));
  }
  std::int64_t pivots() const { return pivots_; }

 private:
  /// One side of a pivot: a row of the working set or a learner, and where it is in the kernel (−1: outside).
  struct Side {
    enum class Kind { none, row, learner, zero } kind = Kind::none;
    Eigen::Index which = -1, position = -1;
    double sign = 1;
  };
  /// A quantity that must stay ≥ 0 and falls at `rate` per unit of the step.
  struct Limit {
    Side side;
    double value, rate;
  };

  Eigen::RowVectorXd kernel_row(Eigen::Index row) const;
  Eigen::VectorXd kernel_column(Eigen::Index learner, double sign) const;
  void take_new();
  bool refactor();
  void read_vertex();
  void read_edges();
  void read_slacks();
  void add_kernel_rows(const Eigen::VectorXd& coefficients, double factor, Eigen::VectorXd& edges) const;

  Side violated(double tolerance);
  Side improving(double tolerance);
  bool dual_pivot(const Side& leaving, bool& at_zero);
  bool primal_pivot(const Side& entering);
  Side choose(const std::vector<Limit>& limits, double slack, double& step);

  bool replace_row(Eigen::Index position, Eigen::Index row);
  bool replace_learner(Eigen::Index position, Eigen::Index learner, double sign);
  bool grow(Eigen::Index row, Eigen::Index learner, double sign);
  bool shrink(Eigen::Index row_position, Eigen::Index learner_position);
  std::vector<double> column_of(Eigen::Index learner) const;

  const PayoffMatrix& game_;
  const bool intercept_;
  const Eigen::Index first_;  // first column of the kernel that belongs to a learner: after γ (and b)
  Random random_;
  std::vector<Eigen::Index> rows_, learners_;  // kernel row p + 1, kernel column first_ + p
  std::vector<double> signs_;                  // of λ, per learner of the kernel
  std::vector<std::vector<double>> entries_;   // per learner of the kernel: z_ij of all rows of the working set
  std::vector<char> row_inside_, learner_inside_;
  Eigen::MatrixXd inverse_;
  Eigen::VectorXd x_, q_;  // (γ, b, λ) and (t, q)
  double t_ = 0;
  Eigen::VectorXd edges_, rates_, slacks_;
  std::int64_t pivots_ = 0;
  int since_refactor_ = 0, stalled_ = 0;
};

}  // namespace margin
