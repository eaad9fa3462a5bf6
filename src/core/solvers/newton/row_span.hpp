// Fewer rows than features: the optimum lies in the span of the rows, so the problem is solved in coordinates of it.
#pragma once

#include <memory_resource>
#include <optional>

#include "core/math/symmetric_matrix.hpp"
#include "core/solvers/run.hpp"
#include "core/solvers/solver.hpp"

namespace margin {

/// The same problem with n features: K = X Xᵀ = R Rᵀ (a penalised intercept's column included), row i of X becomes row i of R. The
/// scores, the norm of w and the dual are the same in both, so are P and D.
class RowSpan {
 public:
  RowSpan(const Problem& problem, Run& run);
  /// Rows of R; no intercept but a free one.
  const Problem& problem() const { return reduced_; }
  /// A previous model in the coordinates of R, where it carries duals (z = Rᵀβ, β_i = cost_i a_i); otherwise none.
  std::optional<InitialModel> reduce(const InitialModel& model) const;
  /// Replaces weights in the coordinates of R by weights of the features, w = Xᵀ γ with Rᵀ γ = z.
  void expand(Solution& solution) const;

 private:
  double cost(std::int64_t i) const;
  void multiply_rows(SymmetricMatrix& k) const;

  const Problem& original_;
  Run& run_;
  SymmetricMatrix factor_;  // R = factorᵀ
  std::pmr::monotonic_buffer_resource memory_;
  Dataset rows_;
  Problem reduced_;
};

}  // namespace margin
