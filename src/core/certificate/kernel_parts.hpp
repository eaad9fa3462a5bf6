// What the certificate of a training (certificate/kernel.hpp) and that of a stored model over any rows
// (certificate/kernel_check.hpp) have in common: sums of kernel values with bounds on their rounding, what a row says
// about its scores, and the dual vector as coefficients of rows. The formulas are those of certificate/kernel.hpp.
#pragma once

#include "core/base/progress.hpp"
#include "core/certificate/check.hpp"
#include "core/certificate/risk.hpp"
#include "core/kernel/rows.hpp"
#include "core/math/exact_sum.hpp"

namespace margin {

/// A number and a bound on its error.
struct Enclosure {
  double value = 0, error = 0;
  /// Ends of an interval that holds max(0, number); NaN: everything.
  double above() const;
  double below() const;
};

/// v_o(x) = Σ_s c_os k(x, x_s) per output, from kernel values.
class KernelSum {
 public:
  /// `lengths`: sqrt(k(x_s, x_s)). `coefficients`: outputs × terms.
  KernelSum(Weights coefficients, const std::vector<double>& lengths);
  /// `values`, `errors`: k(x, x_s) and bounds on their rounding; `length`: sqrt(k(x, x)).
  Enclosure operator()(std::int32_t output, const double* values, const double* errors, double length) const;
  /// 2 Σ_{t < s} c_ot k(x_s, x_t) + c_os k(x_s, x_s), from the kernel values of x_s with itself and the terms before it.
  Enclosure up_to(std::int32_t output, std::size_t s, const double* values, const double* errors, double length) const;
  /// Adds term s to ‖v_o‖² = Σ_s c_os v_o(x_s); `score`: v_o(x_s), or up_to(), which adds up to the same: k is symmetric.
  void add_to_norm(Enclosure& norm, std::int32_t output, std::size_t s, const Enclosure& score) const;
  bool zero() const { return !(absolute_.size() > 0 && absolute_.maxCoeff() > 0); }
  std::size_t terms() const { return static_cast<std::size_t>(coefficients_.cols()); }
  std::int32_t outputs() const { return static_cast<std::int32_t>(coefficients_.rows()); }

 private:
  Weights coefficients_, absolute_;
  Eigen::VectorXd size_;  // Σ_s |c_os| sqrt(k(x_s, x_s))
  double length_ = 0;     // Σ_s sqrt(k(x_s, x_s))
};

/// sqrt(k(x_s, x_s)) of all rows.
std::vector<double> lengths_of(const KernelRows& rows);
/// A value that is known to be k(x, x): exact where the general formula loses digits. `dimensions`: of the rows.
void set_diagonal(double diagonal, std::int32_t dimensions, double& value, double& error);
/// ‖v_o‖² of every output, for coefficients on these rows.
std::vector<Enclosure> squared_norms(const KernelRows& rows, const KernelSum& sum, const Progress& progress);

/// What rows say about the scores that they get.
class KernelTally {
 public:
  /// `intercept` (per output; null: none) is kept by pointer.
  KernelTally(const Objective& objective, const double* intercept);
  /// `scores`: of each output, without the intercept; of the row what it is labelled with, and its weights.
  void add(std::vector<Enclosure>& scores, double length, const CheckedRow& row);

  double smallest() const { return smallest_; }  ///< margin, not divided by ‖w‖, rounded down; ∞: no rows
  std::int64_t rows() const { return rows_; }
  std::int64_t errors() const { return errors_; }                ///< rows whose margin is not certainly above 0
  double failure() const;                                        ///< as in Certificate
  double radius() const;                                         ///< max sqrt(k(x, x)), rounded up
  double total_weight() const { return total_weight_.value(); }  ///< W
  bool has_intercept() const;                                    ///< one that is not 0
  double mean_loss(std::int32_t output) const;                   ///< (1/W) Σ c φ, rounded up
  double intercept() const { return intercept_ != nullptr ? *intercept_ : 0.0; }
  /// As plain numbers, for parallel workers, and how those of more rows join them (Check::reductions). merge() is false when
  /// they are not of this shape.
  std::vector<double> state() const;
  std::string reductions() const { return "++<>+" + std::string(loss_.size(), '+'); }
  bool merge(const std::vector<double>& state);

 private:
  double margin(const std::vector<Enclosure>& scores, std::int32_t label) const;
  std::int32_t predicted(const std::vector<Enclosure>& scores) const;

  Objective objective_;
  const double* intercept_;
  std::int64_t rows_ = 0, errors_ = 0;
  double smallest_, radius_ = 0, error_weight_ = 0;
  ExactSum total_weight_;
  std::vector<double> loss_;
};

/// A dual vector as coefficients: Σ q z, or v, as a sum over the rows with a dual weight, its terms.
class KernelDual {
 public:
  explicit KernelDual(const Objective& objective) : objective_(objective) {}
  /// One row's dual weights, as in Solution. False when they are all 0: then it is no term.
  bool add(const CheckedRow& row, const double* q);
  std::int64_t terms() const { return static_cast<std::int64_t>(label_.size()); }
  double bytes() const {
    return 8.0 * static_cast<double>(q_.capacity() + weight_.capacity() + target_.capacity() + label_.capacity() / 2);
  }

  struct Scaled {
    Weights coefficients;  ///< outputs × terms
    /// What is left of the condition Σ v = 0 of a free intercept, relative to the mass of v; ∞: a class has no weight.
    double imbalance = 0;
    std::vector<double> linear;  ///< soft margins: a lower bound of (1/W) Σ c (−φ*(−a)) per output
    /// Soft margins, of Σ v, which a free intercept wants to be 0 and a one-class machine's to be 1: how far it is
    /// from there, the sum of |v|, and a bound of Σ (1/W) c (|φ*| + |a|).
    std::vector<double> left, mass, size;
    std::vector<double> scale;  ///< soft margins: what the coefficients of an output are multiplied by, a power of two
  };
  /// Scaled so that it satisfies the constraints. `total_weight`: W.
  Scaled scaled(double total_weight) const;

 private:
  double q(std::int64_t t, std::int32_t output) const {
    return q_[static_cast<std::size_t>(t * objective_.outputs() + output)];
  }
  std::int32_t label(std::int64_t t) const { return label_[static_cast<std::size_t>(t)]; }
  /// What the loss sees as the outcome.
  double target(std::int64_t t, std::int32_t output) const {
    return objective_.task == Task::regression ? target_[static_cast<std::size_t>(t)]
                                               : objective_.target(label(t), output);
  }
  void scale_hard_binary(Scaled& out) const;
  void scale_hard_multiclass(Scaled& out) const;
  void scale_soft(Scaled& out, double total_weight) const;

  Objective objective_;
  std::vector<std::int32_t> label_;
  std::vector<double> target_, weight_, q_;  // target_: of regressions
};

/// w, whose scores the tally has seen.
struct KernelPrimal {
  const KernelSum& sum;
  const std::vector<Enclosure>& norm;  ///< ‖w_o‖² per output
};
/// min_i margin_i / ‖w‖, rounded down; 0 for w = 0.
double kernel_margin_lower(const Objective& objective, const KernelTally& tally, const KernelPrimal& primal);
/// `dual_norm`: ‖v_o‖² per output of `dual`, whose rows are `terms` many.
Certificate kernel_certificate(const Objective& objective, const KernelTally& tally, const KernelPrimal& primal,
                               const KernelDual::Scaled& dual, std::int64_t terms,
                               const std::vector<Enclosure>& dual_norm);

}  // namespace margin
