// What the certificate of a model proves of parts of the optimum's scores: ⟨x − mean, w*⟩ for x in some columns, whatever the others
// and the intercept are. With the ball ‖w* − c‖ ≤ r of certificate/ball.hpp it is within r‖x − mean‖ of ⟨x − mean, c⟩.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/certificate/ball.hpp"
#include "core/model/model.hpp"
#include "core/options/options.hpp"

namespace margin {

class ContributionIntervals {
 public:
  /// Values of distinct terms (places among the weights of an output).
  using Entries = std::vector<std::pair<std::int32_t, double>>;

  /// Null for a model whose certificate does not say where the optimum is: a hard margin, a lasso, a kernel, other units.
  static std::unique_ptr<ContributionIntervals> of(const Model& model, const Options& options);

  /// What is taken from the parts that follow. O(entries) of this call and of the last.
  void set_mean(Entries mean);
  /// lower ≤ ⟨part − mean, w*⟩ ≤ upper of an output, rounding included; infinite where a length overflows. O(entries of the part).
  void interval(const Entries& part, std::int32_t output, double* lower, double* upper) const;

 private:
  ContributionIntervals(const Model& model, Ball ball);

  Ball ball_;
  Entries entries_;                             // of the mean
  std::vector<double> mean_;                    // by terms
  double square_ = 0;                           // ≥ ‖mean‖²
  std::vector<double> product_, product_size_;  // of outputs: ⟨mean, c⟩, and Σ |mean c|
};

}  // namespace margin
