// The certificate of a stored kernel model over any rows, row by row and in any number of pieces: what certify_kernel
// (certificate/kernel.hpp) does for a training. The lower end or primal value needs the model alone; for the upper end
// or dual value the rows with a dual weight are kept.
#pragma once

#include "core/base/progress.hpp"
#include "core/certificate/kernel_parts.hpp"
#include "core/kernel/support_vectors.hpp"

namespace margin {

class KernelCheck {
 public:
  /// `basis`, `weights` (outputs × basis size) and `intercept` (per output; null: none) are kept by reference. Throws
  /// Error(invalid_value): a support vector too long for a kernel.
  KernelCheck(const KernelObjective& objective, const KernelBasis& basis, const double* weights,
              const double* intercept, bool with_dual);

  /// One row of sorted class `label`, of weight 1; `weight` weighs its loss. `dual`: one dual weight per output, null
  /// for none. Throws Error(invalid_value): a row too long for a kernel.
  void add(const Row& x, std::int32_t label, double weight, const double* dual);

  std::int64_t errors() const { return tally_.errors(); }  ///< rows whose margin is not certainly above 0
  double bytes() const;                                    ///< of the rows that are kept

  struct Ends {
    double margin_lower = 0;  ///< smallest margin / ‖w‖, of soft margins too
    Certificate certificate;  ///< without dual weights its upper end (soft: dual value) is the one that needs none
  };
  /// Some (support vectors)² kernel values. `progress` (null: none) is polled.
  Ends ends(const Progress& progress) const;

  /// The state without its dual part, for parallel workers; merge() is false when it is not of this shape.
  std::vector<double> state() const { return tally_.state(); }
  bool merge(const std::vector<double>& state) { return tally_.merge(state); }

 private:
  KernelObjective objective_;
  const KernelBasis& basis_;
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
