// Probabilities from log-odds: the scores of a logistic model, or calibrated ones (model/calibration.hpp).
#pragma once

#include <cstdint>

namespace margin {

/// 1 / (1 + e^−s), without overflow.
double sigmoid(double s);

/// ln sigmoid(s), without overflow or cancellation.
double log_sigmoid(double s);

/// Probability of each class. One output: out[0] and out[1] of the two classes, out[1] = sigmoid(scores[0]). More:
/// the one-against-rest probabilities sigmoid(scores[c]), divided by their sum (in log space, so all-tiny is fine).
void probabilities(const double* scores, std::int32_t outputs, double* out);

/// ln of the probability that probabilities() gives class `label`.
double log_probability(const double* scores, std::int32_t outputs, std::int32_t label);

}  // namespace margin
