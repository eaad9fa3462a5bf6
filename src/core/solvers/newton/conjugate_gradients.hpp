// The linear systems of Newton's method without a matrix: conjugate gradients on products with the rows.
#pragma once

#include <optional>
#include <vector>

#include "core/solvers/newton/code_blocks.hpp"
#include "core/solvers/newton/rows.hpp"

namespace margin {

/// Solves (I + factor · Σ weight_i x_i x_iᵀ) d = −r, with 0 in I for the column of a free intercept, and without x for that of an offset. A product reads the rows of positive weight once; the
/// preconditioner is the diagonal, so that columns of any scale, each in its own unit, are alike, and of rows as codes the blocks of their terms
/// (solvers/newton/code_blocks.hpp).
class ConjugateGradients {
 public:
  explicit ConjugateGradients(const NewtonRows& rows);
  /// weight_i ≥ 0. Ends when the residual is at most `accuracy` · ‖r‖, or no step makes it smaller in floating point.
  /// d is a direction of descent in any case (rᵀd < 0 unless r is 0).
  void solve(const double* weight, double factor, const std::vector<double>& r, double accuracy,
             std::vector<double>& d);

  // Its parts, for others who go about with the same matrix.
  void weigh(const double* weight, double factor);
  /// q = (I + factor · Σ weight x xᵀ) p for those of the last solve() or weigh(), and 1 over a number of that matrix's diagonal.
  void multiply(const std::vector<double>& p, std::vector<double>& q) const;
  double inverse_diagonal(std::size_t j) const { return inverse_[j]; }
  /// z is v, preconditioned, and 0 in columns that are `held` (null: none); their product.
  double precondition(const std::vector<double>& v, const std::vector<char>* held, std::vector<double>& z) const;

 private:
  void weigh_codes(const double* weight, double factor);
  void multiply_codes(const std::vector<double>& p, std::vector<double>& q) const;
  const NewtonRows& counting() const { return counting_.has_value() ? *counting_ : rows_; }

  const NewtonRows& rows_;
  std::vector<std::int64_t> which_;  // rows of positive weight
  std::vector<double> weight_;       // theirs, times the factor
  std::vector<double> inverse_, residual_, search_, image_;
  std::vector<double> conditioned_;  // M⁻¹ of the residual
  std::optional<CodeBlocks> blocks_;
  mutable std::vector<double> sums_;
  std::optional<NewtonRows> counting_;  // of rows as codes, where not all count
  mutable std::vector<double> scores_;  // theirs
};

}  // namespace margin
