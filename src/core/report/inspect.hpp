// A trained model in human-readable form: its weights by size, what its interval says, a summary.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/certificate/check.hpp"
#include "core/model/model.hpp"

namespace margin {

/// One weight, with 0-based output and feature (or function of the basis).
struct WeightEntry {
  std::int32_t output, feature;
  double weight;
};

/// The weights by falling |weight|, the first `most` of them; equals in the order of features, then outputs.
std::vector<WeightEntry> weights_by_size(const Model& model, std::size_t most = static_cast<std::size_t>(-1));

/// What an interval [lower, upper] around the optimum implies.
struct Interval {
  double lower = 0, upper = 0;
  double gap = 0;           ///< upper − lower
  double relative_gap = 0;  ///< gap/upper (hard margin), gap/max(|lower|, |upper|) (others); 0 for a gap of 0
  /// Soft margin: ≥ ‖(w, b/B) − (w*, b*/B)‖. Hard margin with lower > 0: ≥ ‖w/‖w‖ − w*/‖w*‖‖; absent otherwise.
  std::optional<double> distance;
};

/// The bounds that a model tells, of the largest margin, of the smallest objective, or of half the least squared norm.
struct ToldBounds {
  std::optional<double> lower, upper;
};
/// An interpolation that misses targets has no upper bound: weights that do not meet them bound nothing.
ToldBounds bounds_of(const Model& model);
ToldBounds bounds_of(const Objective& objective, const Certificate& proven);
/// What rows prove of weights, of whatever training; absent as below.
std::optional<Interval> interval_of(const Objective& objective, const ToldBounds& bounds);
/// In the units of the features.
std::string objective_name(const Objective& objective);
/// Which of the problems it is: a soft margin, a hard one, an interpolation.
std::string problem_name(bool hard_margin, bool interpolates);

// In the following `options` are those that the model was trained with.

/// Absent when the model lacks one of the two bounds.
std::optional<Interval> interval_of(const Model& model, const Options& options);

/// What the interval is about, in one line: the largest margin, the smallest objective or the least weights, and in
/// which units.
std::string objective_name(const Model& model, const Options& options);

/// Why parse_options refuses these options; empty when it does not.
std::string refusal_of(const Value::Object& options);

/// Some lines of text, each ending in a newline.
std::string summary(const Model& model, const Options& options);

}  // namespace margin
