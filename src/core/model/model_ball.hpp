// The ball around the optimum (certificate/ball.hpp) of a model: what its training proves of the optimum's scores.
#pragma once

#include "core/certificate/ball.hpp"
#include "core/model/model.hpp"

namespace margin {

/// Of the objective of a soft margin that is linear in the features, without its loss; `options` are those that the model
/// was trained with.
Objective penalty_of(const Model& model, const Options& options);

/// ≥ the distance of the weights (and b/B) of a soft margin with an l1_ratio below 1 from the optimum's, for `gap` between
/// its bounds; of a standardised training in its units, of a kernel in its space.
double distance_to_optimum(const Model& model, const Options& options, double gap);

/// Why a model has no ball that scores could be bounded by, as the end of a sentence; empty where it has one.
std::string without_ball(const Model& model, const Options& options);

}  // namespace margin
