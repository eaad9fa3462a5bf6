// The certificate of an l1 margin over decision stumps, or trees of depth 2 (data/stump_basis.hpp): for λ ≥ 0 over any of them,
// and any q ≥ 0,
//
//   min_i y_i Σ_s λ_s h_s(x_i) / Σ λ  ≤  max margin  ≤  max_h |Σ_i q_i y_i h(x_i)| / Σ q
//
// where h runs over all stumps that tell rows apart. The upper bound is a sweep over every column in the order of its
// values, which shares nothing with the search of boosting: a stump that the solver missed widens the interval. Of trees, h
// runs over all those whose split tells rows apart (certificate/tree_edges.hpp).
#pragma once

#include "core/base/progress.hpp"
#include "core/certificate/certificate.hpp"
#include "core/certificate/lp_margin.hpp"
#include "core/data/stump_basis.hpp"

namespace margin {

/// The lower bound, from the weights of the basis.
class StumpCheck final : public Check {
 public:
  /// `basis` and `vectors` are kept by pointer. `upper`: what bounds each output's margin from above; empty: 1, as no
  /// margin is larger.
  StumpCheck(const Objective& objective, const StumpBasis& basis, const ModelVectors& vectors,
             std::vector<double> upper = {});

  void add(const CheckedRow& row) override;
  std::vector<double> state() const override { return margins_.state(); }
  bool merge(const std::vector<double>& state) override { return margins_.merge(state); }
  std::string reductions() const override { return margins_.reductions(); }
  void measure(const CheckedRow& row, double* numbers, double* coefficients) override;
  std::unique_ptr<Check> part() const override;
  void add_part(Check& part) override;
  Certificate certificate(const Progress& progress) const override;

 private:
  StumpCheck(const StumpBasis& basis, const NormCheck& margins);

  const StumpBasis& basis_;
  NormCheck margins_;  // of rows of the stumps' values
  std::vector<double> upper_, values_;
  std::int64_t support_ = 0;
};

/// Both bounds: the upper one from the largest edge of the dual weights over all stumps or trees. `weights`: outputs × basis
/// size; `dual`: rows × outputs, or empty.
Certificate certify_stumps(const Problem& problem, const StumpBasis& basis, const Weights& weights,
                           const Eigen::VectorXd& intercept, const Weights& dual, const Progress& progress = {});

}  // namespace margin
