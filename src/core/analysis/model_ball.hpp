// The ball around the optimum (certificate/ball.hpp) of a model: what its training proves of the optimum's scores.
#pragma once

#include <optional>
#include <vector>

#include "core/certificate/ball.hpp"
#include "core/consequences/where/ellipsoid.hpp"
#include "core/model/products.hpp"
#include "core/model/statement_of.hpp"

namespace margin {

/// ≥ the distance of the weights (and b/B) of a soft margin with an l1_ratio below 1 from the optimum's, for `gap` between
/// its bounds; of a standardised training in its units, of a kernel in its space.
double distance_to_optimum(const Model& model, const Options& options, double gap);

/// Throws Error(unsupported): the model is of a build whose `ball` did not say what its sums are off by.
void require_known_errors(const Model& model, const Consumer& product);

/// (w, b/B) of an output, or w alone where there is no penalised intercept.
std::vector<double> curved_place(const Model& model, std::int32_t output, double constant_feature);

/// Rows in the columns of a model that lists them.
class OwnColumns {
 public:
  /// The list, empty for all, is kept by pointer.
  explicit OwnColumns(const std::vector<std::int32_t>& columns) : own_(&columns) {}
  explicit OwnColumns(const Model& model) : OwnColumns(model.columns) {}
  /// The row without what lies in other columns. Valid until the next call, and as long as x.
  Row place(const Row& x);
  /// Whether the last row had nothing there.
  bool all() const { return all_; }

 private:
  const std::vector<std::int32_t>* own_;
  bool all_ = true;
  std::vector<double> values_;
  std::vector<std::int32_t> indices_;
};

/// The scores that the optimum can have. Of soft margins that are linear in features whose units the certificate has, with a
/// penalty on the intercept.
class ScoreIntervals {
 public:
  /// Kept by reference. Throws Error(unsupported) for a model that has none, saying why.
  ScoreIntervals(const Model& model, const Options& options, const Progress& progress = {});

  /// For a finite row that fits the model: lower[o] ≤ what the optimum gives it ≤ upper[o], and whether all that the optimum
  /// can be predict the class for it that the model does (false of a regression).
  bool intervals(const Row& x, double* lower, double* upper, const Progress& progress = {});

 private:
  const Model* model_;
  OwnColumns columns_;  // others have the weight 0 at the optimum
  std::optional<Ball> ball_;
  std::vector<Ellipsoid> ellipsoids_;  // of each output, where the model has its curvature
  std::vector<double> own_;            // scores of the model
};

/// The interval around the optimum of the same rows at another lambda, from the model alone. With Ω(w) = (‖w‖² + ‖b/B‖²)/2,
///   P' = P + (λ' − λ)Ω(w),  D' ≥ θ(D(a) + (λ/2)‖v‖²) − θ²(λ²/2λ')‖v‖²  for any θ in [0, 1] and any a, whose point is v,
/// with the dual weights θa, as −φ*(−θa) ≥ θ·(−φ*(−a)): φ* is convex, and φ*(0) ≤ 0. D(a) and v must be of the same a. The stored
/// lower end L need not be that of the stored v: an update clips it to 0, a curvature raises it. Two a are known:
///   1. that of the stored v, as far as its error, with D(a) ≥ U − Σ slack − (λ/2)‖w − v‖² (certificate/ball.hpp);
///   2. the optimal one, of which D(a) = P* ≥ L whatever proved L, and v = w*, where (λ/2)‖w − w*‖² ≤ P − P* ≤ U − L.
/// With θ = λ'/λ ≤ 1 the second says λ'/λ · L, and with θ = 1 at λ' ≥ λ no less than L: at its own λ the interval is [L, U] or
/// narrower. Figures must have been read. Throws Error(unsupported) where the penalty is another, weighs what the model does
/// not tell, or nothing is proven; invalid_value for a lambda.
struct IntervalAt {
  double lower = 0, upper = 0;
};
IntervalAt gap_at(const Model& model, const Options& options, double lambda);

}  // namespace margin
