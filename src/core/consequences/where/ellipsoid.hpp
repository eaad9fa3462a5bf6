// Where the optimum of a regularised risk is: in an ellipsoid, as losses curve. A ball knows of the curvature λ alone; rows curve
// the objective far more, and so hold its optimum far closer. For one output, z = (w, b/B) and x = (x, B),
//   G(z + d) = Σ c φ(x·(z + d)) + (λW/2)‖z + d‖²,   e = ∇G(z),   the optimum is z + d*.
// M is any metric; of moves with ‖d‖_M ≤ N a row's score moves by ρ = N‖x‖_M⁻¹ at most, and the mean of φ'' over any such way is
// within s of m. Of these, H = λWI + Σ c m x xᵀ, S = Σ c s x xᵀ, K = Σ c (s²/m) x xᵀ and A = H − S. An M near A is the best.
//   1. Let M κ ≤ A and q = −A⁻¹e. If ‖q‖_M + ‖e‖_A⁻¹/√κ < 2N, then ‖d*‖_M ≤ N: else at v = td*, ‖v‖_M = N, where G still
//      falls along d*, ‖v‖²_A ≤ (∇G(z + v) − e)·v ≤ −e·v, so that ‖v − q/2‖_A ≤ ‖q‖_A/2 = ‖e‖_A⁻¹/2: v lies in an ellipsoid
//      around q/2, all of which is nearer than N.
//   2. d* = −T⁻¹e for the mean Hessian T on the way there, H − S ≤ T ≤ H + S. So for d⁰ = −H⁻¹e: T(d* − d⁰) = (H − T)d⁰ is a sum of
//      c σ (x·d⁰) x with abs(σ) ≤ s, and as H ≥ Σ c m x xᵀ, ‖(H − T)d⁰‖²_H⁻¹ ≤ Σ c (s²/m)(x·d⁰)² = d⁰·K d⁰.
//   3. Where S ≤ θA, H ≤ (1 + θ)A, and ‖d* − d⁰‖_A ≤ ‖d* − d⁰‖_T = ‖T(d* − d⁰)‖_T⁻¹ ≤ ‖(H − T)d⁰‖_H⁻¹√(1 + θ), the radius of
//      the ellipsoid around z + d⁰.
//   4. G(z + d*) ≥ G(z) − ½‖e‖²_A⁻¹.
// Rows that come or go add to e, H, S and K what they add, or take it with them. That an A is positive is proven by a
// Cholesky factorisation that succeeds with what rounding can hide taken off its diagonal (Rump 2006).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/consequences/where/curvature.hpp"
#include "core/consequences/where/mean_curvature.hpp"
#include "core/data/gram_block.hpp"
#include "core/loss/loss.hpp"
#include "core/math/symmetric_matrix.hpp"

namespace margin {

/// What of the rows it takes, for one output of n columns, the last the constant one where there is one.
struct CurvedPoint {
  double total_weight = 0;  ///< W, rounded
  double reach = 0;         ///< N
  double matrix_error =
      0;  ///< ≥ what H, S and K are off by, all in all, rounding and rows that left included (M is any)
  double gradient_error = 0;                         ///< the same of e
  std::vector<double> gradient;                      ///< e
  std::vector<double> metric, middle, spread, bent;  ///< M, H, S, K by rows of their upper triangles
  std::size_t size() const { return gradient.size(); }
  double bytes() const { return 8.0 * static_cast<double>(4 * gradient.size() + 4 * metric.size()); }
};

/// One row as these see it: in the columns of the model, with its score and that score's rounding, its target and its cost.
struct CurvedRow {
  Row x{};
  double u = 0, error = 0, y = 0, c = 0;
};
using VisitRows = std::function<void(const std::function<void(const CurvedRow&)>&)>;

/// `point` is z. N is large enough for the removal of a `share` of the rows, as a rule.
CurvedPoint curved_point(const VisitRows& rows, const Loss& loss, const std::vector<double>& point, double lambda,
                         double total_weight, double constant, double share, const Progress& progress);

/// Rows that came and went.
class CurvatureChange {
 public:
  /// Kept by reference, and the loss.
  CurvatureChange(const CurvedPoint& before, const Loss& loss, double lambda, double constant,
                  const Progress& progress);

  void add(const CurvedRow& row, bool removed);
  /// As plain numbers, as many for every change of the same model.
  std::vector<double> state() const;
  static std::size_t state_size(const CurvedPoint& before);
  void merge(const double* state);

  /// With W larger by `grown`, and `now`.
  CurvedPoint after(const std::vector<double>& point, double lambda, double grown, double now) const;

 private:
  /// Σ ± c h (x, B)(x, B)ᵀ for one of three h.
  struct Sum {
    SymmetricMatrix matrix;
    GramBlock block;  // rows that are not in the matrix yet, all with the same sign
  };
  void flush() const;

  const CurvedPoint& before_;
  const Loss& loss_;
  double constant_;
  InverseCurvature metric_;
  bool known_ = false;  // the metric is
  double error_ = 0, gradient_error_ = 0, mass_ = 0, trace_ = 0, rows_ = 0;
  std::vector<double> gradient_;
  mutable std::vector<Sum> sums_;  // of H, S and K
  double sign_ = 0;                // of the rows in their blocks
};

/// The ellipsoid of one output.
class Ellipsoid {
 public:
  /// `point` is z, in `features` columns and one of the value `constant` where that is not 0. Without `scores` it has no score(), for
  /// which steps 1 and 4 above do.
  Ellipsoid(const CurvedPoint& curved, const std::vector<double>& point, double lambda, double constant,
            const Progress& progress, bool scores = true);

  /// It is proven to hold the optimum; else the rest says nothing.
  bool holds() const { return holds_; }
  /// lower ≤ the optimum's score ≤ upper, rounding included.
  void score(const Row& x, double* lower, double* upper, const Progress& progress) const;
  /// ≥ how far the objective's value (the mean loss and penalty) of the optimum is below that of the weights.
  double decrease() const { return decrease_; }

 private:
  bool prove(const CurvedPoint& curved, const std::vector<double>& point, double lambda, const Progress& progress,
             bool scores);

  bool holds_ = false;
  double constant_, radius_ = 0, decrease_ = 0, size_ = 0;
  std::vector<double> centre_;
  InverseCurvature inverse_;
};

}  // namespace margin
