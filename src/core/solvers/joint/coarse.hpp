// A preconditioner of a face of Crammer–Singer's dual (face.hpp), where rows are sparse.
//
// Problem    H r⁻¹ for H = C (K_1 ⊕ ... ⊕ K_k) C: K_c the inner products of the rows of class c, each of length 1, C what takes the
//            mean out of each row's variables. The intercept, and columns that most rows have, make few eigenvalues of each K_c
//            as large as it has rows, while the others are about 1: conjugate gradients then take as many steps as the root
//            of that.
// Update     H is seen as C (σ + Z Zᵀ) C, Z the intercept and the heaviest columns alone, a block for each class, σ the mean of
//            what they leave of a row's length. With B = σ + Zᵀ C Z, as large as classes × columns, its inverse on
//            centred vectors is (1 − C Z B⁻¹ Zᵀ C)/σ, by Woodbury's formula; the classes of a row are coupled in it as in H.
// Stop       none: one factorisation of B, which remains good while classes leave the face. B minus σ is then no less than
//            it would be if it were made again, so that what apply() does stays positive definite.
// Source     Hager (1989), SIAM Review 31, for the formula.
#pragma once

#include <vector>

#include "core/math/symmetric_matrix.hpp"
#include "core/solvers/joint/rows.hpp"

namespace margin {

class JointCoarse {
 public:
  JointCoarse(const JointRows& rows, Run& run);
  static double workspace(const Problem& problem);
  /// Whether these rows are such that it is of use.
  static bool suits(const JointRows& rows);

  /// For the face of these rows; row t has `alive[t]` variables from begin[t] on, of the classes there. False: there is none.
  bool prepare(const std::vector<std::int32_t>& which, const std::vector<std::size_t>& begin,
               const std::vector<std::size_t>& alive, const std::vector<std::int32_t>& classes);
  /// out = the inverse times the centred `v`; rows in the order of prepare(), classes may have left.
  void apply(const std::vector<double>& v, const std::vector<std::size_t>& begin, const std::vector<std::size_t>& alive,
             const std::vector<std::int32_t>& classes, std::vector<double>& out);
  double rest() const { return rest_; }             ///< σ
  std::size_t columns() const { return columns_; }  ///< of Z, for each class
  const double* of_row(std::size_t t) const { return z_.data() + t * columns_; }

 private:
  void choose();
  void describe(const std::vector<std::int32_t>& which);

  const JointRows& rows_;
  Run& run_;
  std::size_t columns_;
  std::vector<std::int32_t> slot_;  // of a feature among the columns; −1: none of them
  std::vector<double> z_;           // row × column
  double rest_ = 1;
  SymmetricMatrix matrix_;
  std::vector<double> sums_;  // class × column
};

}  // namespace margin
