// A start from a model of other rows: its features are found by column and category, not by their numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/progress.hpp"
#include "core/encoder/encoder.hpp"

namespace margin {

/// How the features of two encoders differ.
struct MatchedFeatures {
  std::vector<std::string> fresh, gone;  ///< names of those that only the new, only the old one has
  bool same() const { return fresh.empty() && gone.empty(); }
};

/// Rewrites the weights and the intercept of `initial`, whose `encoder` is told, for the features of `encoder`: a weight moves
/// to the feature of the same column and category, in its unit and from its mean, so that scores stay as they were; what is
/// new has the weight 0, what is gone is dropped. Where another category of a column has no indicator, all of its weights
/// count against that one. Throws Error: malformed (an encoder that is none), wrong_dimensions (weights of other features).
MatchedFeatures match_initial(InitialModel& initial, const Encoder& encoder, const Progress& progress = {});

}  // namespace margin
