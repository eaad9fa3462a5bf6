// Quadratic forms of the inverse of a curvature, λ + Σ c h x xᵀ/W: what bounds how far an optimum moves where the loss curves.
#pragma once

#include <functional>
#include <vector>

#include "core/base/progress.hpp"
#include "core/math/symmetric_matrix.hpp"
#include "core/problem/problem.hpp"

namespace margin {

/// Σ c h x xᵀ/W for h_i ≥ 0 by row number, with a column of the value `constant` where that is not 0.
SymmetricMatrix curvature_sum(const Problem& problem, double constant,
                              const std::function<double(std::int64_t, const Row&)>& curvature,
                              const Progress& progress);

/// The inverse for h_i ≥ 0 by row number, in the columns of the rows and one more of the value `constant` where that is not 0.
class InverseCurvature {
 public:
  /// ≤ λ + Σ c h x xᵀ/W. `penalised`: λ is that of the constant column as well. Forms cost features² to make and are no better
  /// than rounding allows: see usable().
  InverseCurvature() = default;
  InverseCurvature(const Problem& problem, double lambda, double constant, bool penalised,
                   const std::function<double(std::int64_t, const Row&)>& curvature, const Progress& progress,
                   SymmetricMatrix* sum = nullptr);  ///< of the rows, without λ
  /// Of a matrix in the same columns, none of whose eigenvalues is below `floor`.
  InverseCurvature(SymmetricMatrix matrix, double constant, double floor, const Progress& progress);

  /// There is an inverse, whose forms err by less than a hundredth.
  bool usable() const { return !values_.empty() && safe_ < 1.01; }
  bool empty() const { return values_.empty(); }
  /// Forms times this are no less than what they stand for.
  double safe() const { return safe_; }
  /// (x, B)ᵀ A⁻¹ (x, B), unsafe by the factor above.
  double form(const Row& x, const Progress& progress) const;
  /// The same of all rows, several at a time; -1 for those whose number in `wanted` (null: all are) is not above 0.
  std::vector<double> forms(const Dataset& rows, const Progress& progress, const double* wanted = nullptr) const;
  /// A⁻¹ v
  std::vector<double> times(const std::vector<double>& v) const;
  /// Of a vector in all columns: vᵀ A⁻¹ v, the same.
  double form(const std::vector<double>& v) const;
  /// ≥ ‖v‖_A⁻¹ of any v with |v_j| ≤ sizes_j: Σ sizes_j √(A⁻¹)_jj.
  double reach(const std::vector<double>& sizes) const;

  /// Most columns, and multiply-adds of the forms of all rows, that are worth it.
  static bool affordable(const Problem& problem, double constant);

 private:
  void invert(SymmetricMatrix& matrix, double floor, bool penalised, double depth, const Progress& progress);
  double in_range(double form, double largest) const;

  std::size_t size_ = 0, features_ = 0;
  double constant_ = 0, safe_ = 1;
  std::vector<double> values_;
};

/// ≤ φ'' between these scores, of a loss of two classes with a derivative.
double least_curvature(const Loss& loss, double low, double high, double y);

/// Whether the two functions here know this loss.
bool knows_curvature(const Loss& loss);

}  // namespace margin
