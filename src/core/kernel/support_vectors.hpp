// The support vectors of a kernel model as a basis: φ_s(x) = k(x, x_s).
#pragma once

#include "core/base/matrix.hpp"
#include "core/base/progress.hpp"
#include "core/data/basis.hpp"
#include "core/data/dataset.hpp"
#include "core/kernel/rows.hpp"

namespace margin {

class KernelBasis final : public Basis {
 public:
  /// `origin`: the rows of the training that the support vectors are copies of; empty for a stored model. `sparse`:
  /// models store them as sparse vectors. `progress` (null: none), which must outlive the basis, is polled by
  /// evaluate().
  explicit KernelBasis(KernelRows rows, bool sparse, std::vector<std::int64_t> origin = {},
                       const Progress* progress = nullptr)
      : Basis(Kind::support_vectors),
        rows_(std::move(rows)),
        origin_(std::move(origin)),
        sparse_(sparse),
        progress_(progress) {}

  std::int32_t size() const override { return static_cast<std::int32_t>(rows_.size()); }
  std::int32_t dimensions() const override { return rows_.dimensions(); }
  void evaluate(const Row& x, double* values) const override;
  /// The row as a point of rows().
  void set(KernelPoint& point, const Row& x) const;
  /// The same for a point of rows(), with bounds on the rounding where `errors` is not null.
  void evaluate(const KernelPoint& point, double* values, double* errors) const;

  const KernelRows& rows() const { return rows_; }
  bool sparse() const { return sparse_; }
  const std::vector<std::int64_t>& origin() const { return origin_; }

 private:
  KernelRows rows_;
  std::vector<std::int64_t> origin_;
  bool sparse_;
  const Progress* progress_;
};

/// The same basis as what it is; null where it is none or of another kind.
inline const KernelBasis* support_vectors_of(const Basis* basis) {
  return basis != nullptr && basis->kind() == Basis::Kind::support_vectors ? static_cast<const KernelBasis*>(basis)
                                                                           : nullptr;
}

/// A kernel model's weights over all rows (n × outputs) reduced to the rows with a weight; where all are zero, the
/// first row stays.
struct SupportVectors {
  std::shared_ptr<const KernelBasis> basis;
  Weights weights;  ///< outputs × basis->size()
};
SupportVectors support_vectors(const Dataset& data, const KernelRows& rows, const Weights& coefficients,
                               const Progress& progress);

/// wᵀKw of one output's weights on a basis: the squared norm of what they stand for.
double squared_norm(const KernelBasis& basis, const double* weights, const Progress& progress);

}  // namespace margin
