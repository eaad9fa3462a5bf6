// One-class machines: what is to be solved, and which options mean something to it.
//
//   min ½‖w‖² − ρ + (1/νW) Σ c_i max(0, ρ − w(x_i))
//
// Schölkopf, Platt, Shawe-Taylor, Smola, Williamson, Estimating the support of a high-dimensional distribution, Neural
// Computation 13 (2001). With b = −ρ, lambda 1 and the loss of loss/one_class.hpp it is a soft margin whose objective
// has b besides; the score of a row is w(x) + b, that of an inlier above 0.
#pragma once

#include "core/problem/problem.hpp"

namespace margin {

/// The two classes of a one-class model; every row that it is trained on counts as one of the second.
constexpr const char* outlier = "outlier";
constexpr const char* inlier = "inlier";

bool is_one_class(const Options& options);

/// The options of a one-class machine as those of the soft margin above. Throws Error for options that mean nothing to
/// it.
Options one_class_options(Options given);

/// Labels, loss and lambda of the problem of such options.
void set_one_class(Problem& problem, const Options& options);

/// Rows that a data set of a one-class machine has: those of one class.
Label one_class_label(Dataset& data);

}  // namespace margin
