// The normal equations of a regression: a sum of outer products as a system to solve, or the columns that spoil it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/math/symmetric_matrix.hpp"

namespace margin {

/// A = Σ h x xᵀ with h ≥ 0, factorised with its columns scaled to 1 and the constant one first: what is left of the
/// others then is their spread, which a mean far from 0 would hide.
class NormalEquations {
 public:
  /// `gram`: A by its upper triangle; `constant_last`: its last column is that of a constant.
  NormalEquations(const SymmetricMatrix& gram, bool constant_last, const Progress& progress);

  /// No column is a combination of others to eleven digits of its spread.
  bool regular() const { return dependent_.empty(); }
  /// Columns of A, ascending, of which some combination is 0; empty where regular.
  const std::vector<std::size_t>& dependent() const { return dependent_; }
  /// b <- A⁻¹ b; A is regular.
  void solve(double* b, const Progress& progress) const;

 private:
  std::size_t place(std::size_t column) const { return order_[column]; }
  void find_dependent(const std::vector<double>& diagonal);

  std::size_t size_;
  bool constant_;
  SymmetricMatrix factor_;
  std::vector<std::size_t> order_;  // where a column of A is in the factor
  std::vector<double> scale_;       // by place: a power of two
  std::vector<std::size_t> dependent_;
  mutable std::vector<double> right_;
};

/// What a feature is called; null: its number.
using FeatureName = std::function<std::string(std::int32_t feature)>;

/// The error for such columns, "the features 2 and 5 are collinear" or what else they are: `features` of them, then a
/// constant one.
class DependentFeatures : public Error {
 public:
  DependentFeatures(const std::string& beginning, const std::vector<std::size_t>& columns, std::int32_t features,
                    const std::string& hint, const FeatureName& name = {});
  /// The same, who knows what the features are called.
  DependentFeatures with_names(const FeatureName& name) const {
    return DependentFeatures(beginning_, columns_, features_, hint(), name);
  }

 private:
  std::string beginning_;
  std::vector<std::size_t> columns_;
  std::int32_t features_;
};

/// Runs f; an error about features calls them by these names.
template <class F>
void naming_features(const FeatureName& name, F&& f) {
  try {
    f();
  } catch (const DependentFeatures& error) {
    throw error.with_names(name);
  }
}

/// The sum of outer products of x + delta, (delta, 0) added to every row, from that of x; the last column is a constant
/// 1.
void move_gram(SymmetricMatrix& gram, const std::vector<double>& delta);

/// The same of a sum of rows, whose last element is the sum of their coefficients.
void move_sum(double* sum, const std::vector<double>& delta);

}  // namespace margin
