#include "core/model/probability.hpp"

#include <algorithm>
#include <cmath>

namespace margin {

namespace {

/// ln Σ_c sigmoid(scores[c])
double log_total(const double* scores, std::int32_t outputs) {
  const double top = log_sigmoid(*std::max_element(scores, scores + outputs));
  double sum = 0;
  for (std::int32_t c = 0; c < outputs; ++c) sum += std::exp(log_sigmoid(scores[c]) - top);
  return top + std::log(sum);
}

}  // namespace

double sigmoid(double s) {
  const double e = std::exp(-std::fabs(s));
  return s >= 0 ? 1 / (1 + e) : e / (1 + e);
}

double log_sigmoid(double s) { return std::min(s, 0.0) - std::log1p(std::exp(-std::fabs(s))); }

void probabilities(const double* scores, std::int32_t outputs, double* out) {
  if (outputs == 1) {
    out[0] = sigmoid(-scores[0]);
    out[1] = sigmoid(scores[0]);
    return;
  }
  const double total = log_total(scores, outputs);
  for (std::int32_t c = 0; c < outputs; ++c) out[c] = std::exp(log_sigmoid(scores[c]) - total);
}

double log_probability(const double* scores, std::int32_t outputs, std::int32_t label) {
  if (outputs == 1) return log_sigmoid(label == 1 ? scores[0] : -scores[0]);
  return log_sigmoid(scores[label]) - log_total(scores, outputs);
}

}  // namespace margin
