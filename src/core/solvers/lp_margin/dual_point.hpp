// The point that coordinate methods of lp margins move: u = Σ α_i z_i, with the weights θ(u) = ∇ ½‖u‖_r² that belong to
// it (Raj & Bach 2021, Section 3), kept up to date as single coordinates change.
//
// θ_j = ‖u‖_r^(2−r) |u_j|^(r−1) sign(u_j). A step along a row changes u only where the row is not 0, so the powers of
// those entries are all that is computed anew, and Σ|u_j|^r is corrected by their difference.
#pragma once

#include <vector>

#include "core/base/progress.hpp"
#include "core/problem/problem.hpp"
#include "core/solvers/run.hpp"

namespace margin {

/// A direction in the space of u: a row times its label, or the difference of two.
struct LpDirection {
  std::vector<std::int32_t> indices;  ///< empty: all columns
  std::vector<double> values;
  double length = 0;  ///< at least ‖values‖_r; 0 when a step along it would overflow
};

class LpAscent {
 public:
  /// Two classes; rows count as scale · x, whose norm should be at most 1. With `constant`, each row ends with one more
  /// feature of value 1: the intercept of the methods that have no better one.
  LpAscent(const Problem& problem, double scale, bool constant);

  Eigen::Index dimensions() const { return u_.size(); }
  const Eigen::VectorXd& point() const { return u_; }
  double dual_exponent() const { return r_; }
  /// u = Σ α_i z_i from scratch, which also ends what rounding has done to it.
  void reset(const Eigen::VectorXd& alpha, Run& run);
  /// u as given, of dimensions().
  void set(const Eigen::VectorXd& u);

  /// z_i into `out`; reuses its memory. `length` is ‖z_i‖_r, computed once per row.
  void load(std::int64_t i, LpDirection& out);
  /// z_i + z_j of rows of different classes: adding it leaves Σ α_i y_i as it is. `length` is a bound.
  void load_pair(std::int64_t i, std::int64_t j, LpDirection& out);
  /// <θ(u), direction>
  double product(const LpDirection& direction) const;
  /// The δ that maximises c δ − ½‖u + δ z‖_r²: closed form for p = 2; below, the step of Lemma 1, which never goes too
  /// far, and then Newton's method between brackets.
  double line_maximum(const LpDirection& z, double c);
  /// The δ that maximises Lemma 1's quadratic lower bound of the same: never further than line_maximum().
  double bound_maximum(const LpDirection& z, double c) const;
  /// u += δ z
  void move(const LpDirection& z, double delta);

 private:
  struct Line {
    double product, slope;
  };
  Line at(const LpDirection& z, double delta, double rest);
  double gather(const LpDirection& z);  ///< entries_ = u/τ on z's columns; returns Σ|u/τ|^r of the others
  void refresh();

  const Problem& problem_;
  double scale_, r_;
  bool constant_;
  Eigen::VectorXd u_, w_;        // w_j = |u_j/τ|^(r−1) sign(u_j)
  double unit_ = 1, sum_ = 0;    // τ, and Σ|u_j/τ|^r
  std::vector<double> lengths_;  // ‖z_i‖_r, −1: not yet known
  Eigen::VectorXd entries_, trial_, power_;
  LpDirection other_;
};

}  // namespace margin
