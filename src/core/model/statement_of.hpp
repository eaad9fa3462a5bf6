// What a stored model was trained for: its statement, from its attributes and the options that it was trained with.
#pragma once

#include "core/certificate/check.hpp"
#include "core/model/model.hpp"

namespace margin {

/// Of the weights that the model has. Balanced class weights, which only the rows of the training know, are 1 in it. Throws
/// Error(invalid_option) where the options fit no model of these attributes.
Objective objective_of(const Model& model, const Options& options);

/// Of it, the constraints on several weights, those included that the training made of its rows (problem/fairness.hpp).
Constraints constraints_of(const Model& model, const Options& options);

}  // namespace margin
