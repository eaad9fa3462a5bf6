// The curvature of a model's objective, from the rows of its training: what margin_with_curvature adds to a model, so that score
// intervals are ellipsoids (consequences/where/ellipsoid.hpp), and margin_update keeps them through changes.
#pragma once

#include "core/base/memory_limit.hpp"
#include "core/data/dataset.hpp"
#include "core/model/model.hpp"

namespace margin {

struct CurvatureOptions {
  double share = 0.01;  ///< of the rows, whose removal at random the curvature is made for
};
/// Throws Error(invalid_option).
CurvatureOptions parse_curvature(const Value::Object& options);

/// Throws Error(unsupported), saying why, for models that it is not of: those that margin_update refuses, losses whose slope has
/// jumps or no bound, more than `most_curved` columns. Before anything is read.
void require_curvature(const Model& model, const Options& settings);
constexpr std::int32_t most_curved = 1024;

/// `model` with it. `data`: the rows of the training, with the model's classes in its order; `settings`: its options. Throws
/// Error(invalid_value): a row with a feature that the training did not have; limit_exceeded.
Model with_curvature(Model model, const Dataset& data, const Options& settings, const CurvatureOptions& options,
                     const Progress& progress, MemoryBudget memory = {});

}  // namespace margin
