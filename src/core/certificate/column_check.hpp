// The certificate of a regularised risk (certificate/risk.hpp) where the rows lie by columns and most weights are 0: the
// models along a path, whose rows would take longer to read again than to solve for.
#pragma once

#include "core/certificate/certificate.hpp"
#include "core/problem/column_risk.hpp"

namespace margin {

/// Of a problem with one output. The numbers are those of ColumnRisk, which reads the rows alone; bounds on their
/// rounding are added outward here.
class ColumnCheck {
 public:
  explicit ColumnCheck(const Problem& problem);

  /// `risk` is at the weights of the model, with its sums; the model's intercept differs from theirs by rounding at most.
  /// `scale`: of the dual vector, 0 to 1.
  Certificate certificate(ColumnRisk& risk, double lambda, double intercept, double scale) const;

 private:
  double dual(ColumnRisk& risk, double lambda, double scale, double mass, double spread) const;

  const Problem& problem_;
  std::vector<double> norms_;  // of the rows
  double squares_ = 0;         // Σ c ‖x‖²
  double weight_ = 0;          // Σ c
};

}  // namespace margin
