// One output of solve_smooth_scans with few enough features for matrices of them: the rows in memory as they are, the
// others by their second-order expansion at the best weights, and the minimum of that.
#pragma once

#include <memory>
#include <vector>

#include "core/math/symmetric_matrix.hpp"
#include "core/scans/answered_check.hpp"
#include "core/scans/methods/held_rows.hpp"
#include "core/simd/loops.hpp"

namespace margin {

/// To which the sampled rows are solved first.
constexpr double sample_tolerance = 1e-4;

inline double inner(const std::vector<double>& a, const std::vector<double>& b) {
  return simd().dot_dd(a.data(), b.data(), a.size());
}

class SmoothModel {
 public:
  SmoothModel(const ScanProblem& problem, std::int32_t output, std::size_t columns, double constant);

  /// What a scan at `w` told. Its weights are the best ones unless P rose there; the matrix stays what it was where the
  /// scan summed none up.
  void take(const Question& asked, Answer& answer, double primal, const Progress& progress);
  /// The minimum is the next `w`, to a gap of the model of at most `wanted` (of P), and gradients that are beyond the ends of a
  /// lasso's norm by a share of at most `missable`.
  void minimise(double wanted, double missable, ScanRun& run);
  /// `w` is the minimum of ½wᵀ matrix w − <b, w> and the penalty, found from where it is, which bounds and constraints allow. False
  /// where rounding leaves none.
  bool minimise_quadratic(const std::vector<double>& b, ScanRun& run);
  /// Σ cost φ'' x xᵀ of all rows, where a scan has told it or the loss has but one.
  bool has_matrix() const { return matrix_ != nullptr; }
  void set_matrix(const SymmetricMatrix& sum, double unit);
  const SymmetricMatrix& matrix() const { return *matrix_; }
  /// Σ c a x/W at the best weights, without the intercept's column.
  Eigen::VectorXd image() const;

  std::vector<double> w;     ///< the next iterate, with the intercept's column
  std::vector<double> best;  ///< the weights of least P so far; empty: none
  double primal = 0;         ///< theirs

 private:
  struct Model;
  struct Held;
  bool step(const Held& held, const SymmetricMatrix& sum, const std::vector<double>& r, double enough,
            std::vector<double>& d, const Progress& progress);
  bool factorise_with_penalty(const SymmetricMatrix& sum, SymmetricMatrix& factor, const Progress& progress) const;
  double penalty(const std::vector<double>& w) const;
  void hold(SymmetricMatrix& matrix) const;
  void hold(std::vector<double>& gradient) const;
  double penalty_gap(const NewtonRows& rows, const std::vector<double>& w, const std::vector<double>& r);
  double missed(const NewtonRows& rows, const std::vector<double>& w, const std::vector<double>& r) const;
  double finest(double missable) const;

  const ScanProblem& p_;
  std::int32_t output_;
  double constant_, proximal_ = 0;
  bool quadratic_;               // no row is needed in memory
  int rises_ = 0;                // of P, one after the other
  std::vector<double> pull_;     // what the proximal term of a Newton step weighs each column with
  std::vector<double> l1_, l2_;  // of each column in P/λ: l1 |w| + l2/2 w²
  bool has_l1_;
  std::size_t held_;    // the column of an offset, whose weight is known; that behind the last: none
  bool fresh_ = false;  // the matrix is that of the best weights
  HeldRows rows_;
  std::vector<double> gradient_;     // of P/λ without the l1 norm at the best weights
  std::vector<double> multipliers_;  // of constraints, in the last step
  std::unique_ptr<SymmetricMatrix> matrix_;
};

}  // namespace margin
