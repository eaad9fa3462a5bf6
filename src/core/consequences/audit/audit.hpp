// What one pass over the rows proves about weights that came without a proof: the value of a soft margin at them, and a
// lower bound of the optimum from dual values that follow from the scores alone.
//
// a = −φ'(u) of a row at the score u is a dual value, and any a in the domain gives a bound D(a) (certificate/risk.hpp).
// Four things make it a good one, all from sums that one pass collects in any order:
//   Smoothing. Where φ has kinks, −φ' jumps and misses what the optimum needs of the rows there. The derivative of its
//     Moreau envelope of width γ does not: a_γ(u) = argmax −φ*(−a) − a u − γ a²/2, here for a few γ.
//   Mixtures. −φ* is concave and 0 at 0, so that for β ≥ 0 with Σ β ≤ 1 the vector Σ_k β_k a_k has at least Σ_k β_k
//     Σ c (−φ*(−a_k)); the same holds of the positive and the negative parts, each with β of its own, since a sum of two
//     values of opposite signs lies between them. β is the maximum of a small quadratic program; with a free intercept
//     over those that balance.
//   Kinks. Near its kinks φ leaves the dual value open: the rows next to them are kept, and theirs are chosen together
//     (consequences/audit/audit_kinks.cpp).
//   A Newton step. With h ≤ φ'' within τ of u, a' = a − h t is a dual value for |t| ≤ τ, and
//       φ*(−a') ≤ φ*(−a) + u h t + h t²/2,
//     as φ* has the inverse derivative. With t = <x, Δ> for one Δ all of that are quadratic forms of sums. Δ = −(λ + H)⁻¹ ∇
//     with H = Σ c h x xᵀ/W leaves ½ ∇ᵀ(λ + H)⁻¹∇ of the gap, where a alone would leave ½ ‖∇‖²/λ.
// Every bound is computed by RiskCheck, from sums that are moved by what their rounding may be.
#pragma once

#include <memory>
#include <vector>

#include "core/certificate/risk.hpp"
#include "core/consequences/audit/kink_rows.hpp"
#include "core/data/gram_block.hpp"
#include "core/data/nonzeros.hpp"

namespace margin {

/// At one lambda.
struct AuditedValue {
  double lambda = 0;
  double primal = 0, dual = 0;  ///< dual ≤ optimum ≤ primal
  double gap() const { return primal - dual; }
};

/// A sum of rows in blocks, so that it errs by (longest block + blocks) ulps of the sum of their sizes.
class RowSum {
 public:
  explicit RowSum(std::int32_t dimensions);
  void add(double coefficient, const Row& x);
  /// What another process summed up, or a part of it.
  void add(const Eigen::VectorXd& sum, double depth);
  void widen(std::int32_t dimensions);
  Eigen::VectorXd value() const { return total_ + block_; }
  double depth() const { return depth_ + static_cast<double>(rows_) + 1; }

 private:
  Eigen::VectorXd total_, block_;
  std::int64_t rows_ = 0, work_ = 0;
  double depth_ = 0;
};

/// Dual values of one sign: what they add to a dual value.
struct DualSide {
  explicit DualSide(std::int32_t dimensions) : rows(dimensions) {}
  double conjugate() const { return sum_of_conjugates.value(); }
  ExactSum sum_of_conjugates;             ///< Σ c (−φ*(−a))
  double size = 0, mass = 0, unseen = 0;  ///< as in RiskCheck
  ExactSum coefficient;                   ///< Σ c a
  RowSum rows;                            ///< Σ c a x, of all but the first smoothing without that one's
};

/// The sums of a Newton step, over the rows of h > 0; x has one more value, that of the constant feature.
struct DualCurve {
  DualCurve(double tau, std::size_t features, double constant);
  double tau;
  GramBlock block;
  SymmetricMatrix hessian;      ///< Σ c h x xᵀ
  double mass = 0;              ///< Σ c h
  double size = 0, square = 0;  ///< Σ c h ‖x‖, Σ c h ‖x‖²
  double scores = 0;            ///< Σ c h (|u| + |y|)
  std::int64_t rows = 0;
};

class AuditedOutput;

class Audit {
 public:
  /// Of a linear soft margin, one output against the rest. `weights` and `intercept` are kept by pointer. `curves`: with
  /// Newton steps, where there are few enough dimensions; such an audit cannot be widened.
  Audit(const Objective& objective, const double* weights, const double* intercept, bool curves);

  void add(const CheckedRow& row);
  /// As Check::widen.
  void widen(std::int32_t dimensions, const double* weights);
  /// As plain numbers; merge() is false, and nothing is to be made of this audit, when they are not of this shape. `columns`: where the
  /// other audit's columns are among this one's (null: in their places), of as many as it had.
  std::vector<double> state() const;
  bool merge(const std::vector<double>& state, const std::vector<std::int32_t>* columns = nullptr);
  double bytes() const;

  std::int64_t rows() const { return primal_.rows(); }
  std::int64_t errors() const { return primal_.errors(); }
  double weight() const { return primal_.total_weight(); }

  struct Found {
    AuditedValue own;
    /// At the lambda at which the gap is smallest, as far as a search finds it; nothing where there is none (weights of 0), or where
    /// the penalty is no square.
    std::optional<AuditedValue> best;
  };
  /// The interval of the optimum at a lambda above 0, and at the best one. `progress` is told of the work.
  Found found(double lambda, const Progress& progress) const;

 private:
  struct Output {
    std::vector<DualSide> sides;  ///< two per smoothing: a > 0, a < 0
    KinkRows kept;                ///< with their a of the first smoothing
    std::vector<DualCurve> curves;
  };
  void add_dual(Output& output, const CheckedRow& row, double norm, double u, double y, double rounding);
  void add_curve(DualCurve& curve, const CheckedRow& row, double norm, double u, double y);
  double least_curvature(const DualCurve& curve, double u, double y) const;
  std::size_t columns() const;
  void flush() const;
  double most_visits() const;
  std::optional<double> best_lambda(std::vector<AuditedOutput>& outputs, double asked, const Progress& progress) const;
  AuditedValue best_of_curves(std::vector<AuditedOutput>& outputs, const AuditedValue& found,
                              const Progress& progress) const;

  friend class AuditedOutput;
  Objective objective_;
  const double* weights_;
  const double* intercept_;
  RiskCheck primal_;
  std::vector<double> widths_;  // γ, the first the smallest; 0: the loss itself
  std::vector<double> numbers_, coefficients_, norms_, duals_;
  NonZeros nonzeros_;
  std::vector<double> largest_;  // of each column |x_j|, where there are curves
  mutable std::vector<Output> outputs_;
};

}  // namespace margin
