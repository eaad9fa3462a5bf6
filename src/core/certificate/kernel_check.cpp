#include "core/certificate/kernel_check.hpp"

#include <algorithm>
#include <cmath>

namespace margin {

namespace {

Weights copied(const double* weights, std::int32_t outputs, std::int32_t terms) {
  return Eigen::Map<const Weights>(weights, outputs, terms);
}

/// Rows to come may have values that are no floats.
Layout layout_of_any_row(const KernelRows& rows) {
  return rows.layout() == Layout::floats ? Layout::doubles : rows.layout();
}

}  // namespace

KernelCheck::KernelCheck(const Objective& objective, const KernelBasis& basis, const double* weights,
                         const double* intercept, bool with_dual)
    : objective_(objective),
      basis_(basis),
      intercept_(intercept),
      with_dual_(with_dual),
      sum_(copied(weights, objective.outputs(), basis.size()), lengths_of(basis.rows())),
      tally_(objective, intercept),
      dual_(objective),
      terms_(basis.rows().shared_kernel(), basis.dimensions(), layout_of_any_row(basis.rows())),
      values_(static_cast<std::size_t>(basis.size())),
      errors_(values_.size()),
      scores_(static_cast<std::size_t>(objective.outputs())) {
  for (std::size_t s = 0; s < basis.rows().size(); ++s) require_kernel_range(std::sqrt(basis.rows().summary(s)[0]));
}

/// Counts the row in a tally.
void KernelCheck::tell(const CheckedRow& row, KernelTally& tally) {
  const KernelRows& rows = basis_.rows();
  basis_.set(point_, row.x);
  require_kernel_range(std::sqrt(point_.summary[0]));
  double *values = values_.data(), *errors = errors_.data();
  basis_.evaluate(point_, values, errors);
  const double length = std::sqrt(rows.kernel().diagonal(point_.summary.data()));
  for (std::int32_t o = 0; o < objective_.outputs(); ++o)
    scores_[static_cast<std::size_t>(o)] = sum_(o, values, errors, length);
  tally.add(scores_, length, row);
}

void KernelCheck::measure(const CheckedRow& row, double* numbers, double* coefficients) {
  KernelTally one(objective_, intercept_);
  tell(row, one);
  const std::vector<double> state = one.state();
  std::copy(state.begin(), state.end(), numbers);
  std::fill_n(coefficients, objective_.outputs(), 0.0);
}

void KernelCheck::add(const CheckedRow& row) {
  tell(row, tally_);
  if (with_dual_ && row.dual != nullptr && dual_.add(row, row.dual)) terms_.append(row.x);
}

double KernelCheck::bytes() const { return terms_.bytes() + dual_.bytes(); }

Certificate KernelCheck::certificate(const Progress& progress) const {
  const std::vector<Enclosure> primal_norm = squared_norms(basis_.rows(), sum_, progress);
  const KernelDual::Scaled scaled = dual_.scaled(tally_.total_weight());
  const KernelSum dual_sum(scaled.coefficients, lengths_of(terms_));
  const std::vector<Enclosure> dual_norm = squared_norms(terms_, dual_sum, progress);
  return kernel_certificate(objective_, tally_, {sum_, primal_norm}, scaled, dual_.terms(), dual_norm);
}

}  // namespace margin
