// The certificate of a stored kernel model over any rows, row by row and in any number of pieces: what certify_kernel
// (certificate/kernel.hpp) does for a training. The lower bound or primal value needs the model alone; for the upper
// bound or dual value the rows with a dual weight are kept.
#pragma once

#include "core/base/progress.hpp"
#include "core/certificate/kernel_parts.hpp"
#include "core/kernel/support_vectors.hpp"

namespace margin {

class KernelCheck final : public Check {
 public:
  /// `basis`, `weights` (outputs × basis size) and `intercept` (per output; null: none) are kept by pointer. Throws
  /// Error(invalid_value): a support vector too long for a kernel.
  KernelCheck(const Objective& objective, const KernelBasis& basis, const double* weights, const double* intercept,
              bool with_dual);

  /// Throws Error(invalid_value): a row too long for a kernel.
  void add(const CheckedRow& row) override;
  std::vector<double> state() const override { return tally_.state(); }
  bool merge(const std::vector<double>& state) override { return tally_.merge(state); }
  /// Empty with dual weights: their rows are kept.
  std::string reductions() const override { return with_dual_ ? "" : tally_.reductions(); }
  void measure(const CheckedRow& row, double* numbers, double* coefficients) override;
  /// Without dual weights its upper bound (soft: dual value) is the one that needs none. Some (support vectors)² kernel
  /// values.
  Certificate certificate(const Progress& progress) const override;
  double bytes() const override;

  std::int64_t errors() const { return tally_.errors(); }  ///< rows whose margin is not certainly above 0

 private:
  void tell(const CheckedRow& row, KernelTally& tally);

  Objective objective_;
  const KernelBasis& basis_;
  const double* intercept_;
  bool with_dual_;
  KernelSum sum_;
  KernelTally tally_;
  KernelDual dual_;
  KernelRows terms_;  // rows with a dual weight
  KernelPoint point_;
  std::vector<double> values_, errors_;
  std::vector<Enclosure> scores_;
};

}  // namespace margin
