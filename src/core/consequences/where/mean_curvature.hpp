// How much a loss curves on the way from a score to any other within reach: what an ellipsoid (consequences/where/ellipsoid.hpp) asks of a
// loss.
#pragma once

#include "core/loss/loss.hpp"

namespace margin {

/// The mean of φ'' over ways of up to `reach` from u, where `error` bounds the rounding of u: within `spread` of `middle`.
struct MeanCurvature {
  double middle = 0, spread = 0;
};
MeanCurvature mean_curvature(const Loss& loss, double u, double y, double reach, double error);

/// Losses that mean_curvature knows.
bool curves(const Loss& loss);

/// ≥ φ''
double most_curvature(const Loss& loss);

/// What these means are widened by, relatively: evaluations of φ'' and of ρ err by less.
constexpr double mean_blur = 1e-9;

}  // namespace margin
