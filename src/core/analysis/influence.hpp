// How much of a model rests on a row: a bound of how far the optimum moves without it.
#pragma once

#include <memory>
#include <vector>

#include "core/analysis/model_ball.hpp"
#include "core/loss/loss.hpp"

namespace margin {

/// Without row i, P of a soft margin has the subgradient −c φ'(u*)(x, B)/W at its optimum with the row, and is μ-strongly convex (as
/// certificate/ball.hpp): the two optima are no further apart than c |φ'(u*)| ‖(x, B)‖/(μW), where u*, the optimum's score, is in
/// its interval. A row that is certainly beyond the kink of its loss has no influence at all.
class Influence {
 public:
  /// Kept by reference; its figures must have been read. Throws Error(unsupported) for a model of which no ball holds the
  /// optimum, saying why, or whose classes were trained jointly.
  Influence(const Model& model, const Options& options);

  /// ≥ the distance of the optimum's (w, b/B), of all outputs together, from that without this row of weight 1. For a finite
  /// row that fits the model, and its class or target.
  double of(const Row& x, std::int32_t label);
  double of(const Row& x, double target);

 private:
  double of(const Row& x, double weight, std::int32_t label, double target);

  const Model& model_;
  Objective objective_;
  ScoreIntervals intervals_;
  double unit_ = 0;  // 1/(μW)
  std::vector<double> lower_, upper_;
};

}  // namespace margin
