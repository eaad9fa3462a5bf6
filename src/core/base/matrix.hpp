// The matrix that most of the core passes around.
#pragma once

#include <Eigen/Core>

namespace margin {

/// outputs × features, one row of weights per output (1 output for two classes and for regression); also of dual
/// weights, rows × outputs.
using Weights = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

}  // namespace margin
