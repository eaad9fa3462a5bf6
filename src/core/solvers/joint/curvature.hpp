// Newton's systems of all classes at once, by conjugate gradients on products with the rows.
#pragma once

#include <memory>
#include <vector>

#include "core/math/symmetric_matrix.hpp"
#include "core/solvers/joint/terms.hpp"

namespace margin {

/// H = I + Σ_i x_i x_iᵀ ⊗ C_i, with ridge() in place of 1 in I for the column of a free intercept. Of the logistic loss C_i = cost_i (diag p_i −
/// p_i p_iᵀ); of the hinge with a proximal term cost_i/κ times the centring of the classes with p_i > 0, so that rows of one
/// such class add nothing. Rows that add less to H than I/20 all together are left out. The preconditioner takes the
/// classes one by one: a factored matrix for each, or one for all of them where features are many, or the diagonal.
class JointCurvature {
 public:
  explicit JointCurvature(const JointTerms& terms, const JointRows& rows);
  static double workspace(const Problem& problem);

  /// A small share of a row's cost: where no row bends, it keeps the steps of an intercept within the scale of the scores.
  double ridge() const { return ridge_; }
  /// The point where the rows have these p; `p` is kept by pointer.
  void set(const double* p, double kappa);
  /// d of H d = −r, up to a residual of `accuracy` (absolute). Returns the number of products. In any case rᵀd < 0 unless
  /// r is 0.
  int solve(const LargeArray& r, double accuracy, LargeArray& d);

 private:
  enum class Preconditioner { by_class, shared, diagonal };

  static Preconditioner choice(double columns);
  void weigh(std::size_t t, double* h) const;
  void prepare();
  void factor(std::size_t which, SymmetricMatrix& matrix);
  void precondition(const LargeArray& r, LargeArray& z);
  void multiply(const LargeArray& v, LargeArray& out);
  void add_products(std::size_t begin, std::size_t end, const double* v, double* out, const Progress& progress) const;
  void image(std::size_t t, const double* scores, double* out) const;

  const JointTerms& terms_;
  const JointRows& rows_;
  Run& run_;
  Preconditioner kind_;
  const double* p_ = nullptr;
  double kappa_ = 1, ridge_ = 0;
  std::vector<std::int64_t> which_;  // the rows that count
  std::vector<std::size_t> begin_;   // hinge: their classes with p > 0
  std::vector<std::int32_t> classes_;
  std::vector<std::unique_ptr<SymmetricMatrix>> factors_;
  LargeArray diagonal_, residual_, search_, image_, solved_;
  std::vector<double> column_;
};

}  // namespace margin
