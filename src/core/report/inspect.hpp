// A trained model as a person looks at it: its weights by size, what its interval says, a page of text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/model.hpp"

namespace margin {

/// One weight, with 0-based output and feature (or function of the basis).
struct WeightEntry {
  std::int32_t output, feature;
  double weight;
};

/// The weights by falling |weight|, the first `most` of them; equals in the order of features, then outputs.
std::vector<WeightEntry> weights_by_size(const Scorer& model, std::size_t most = static_cast<std::size_t>(-1));

/// The figures of a stored model; what it does not tell is absent.
struct ModelFigures {
  Task task = Task::binary;
  Scorer scorer;
  std::vector<std::string> classes;
  std::string solver, loss, status;
  double norm = 2;               ///< p of a hard margin
  std::optional<double> lambda;  ///< absent: hard margin
  double l1_ratio = 0, tolerance = 0;
  bool standardized = false;
  std::optional<double> lower, upper;  ///< of the largest margin, of the smallest objective, or of half the least norm²
  std::optional<double> slack;         ///< interpolation: how far inside of its interval the worst row is
  std::optional<std::int64_t> iterations, rows, skipped, support;
  std::optional<double> seconds;

  bool hard_margin() const { return !lambda.has_value(); }
  bool interpolation() const { return hard_margin() && loss == "interpolate"; }
  /// The interval is that of a largest margin; else that of a smallest value: dual and primal.
  bool about_margin() const { return hard_margin() && !interpolation(); }
};

/// What an interval [lower, upper] around the optimum implies.
struct Interval {
  double lower = 0, upper = 0;
  double gap = 0;           ///< upper − lower
  double relative_gap = 0;  ///< gap/upper (hard margin), gap/max(|lower|, |upper|) (others); 0 for a gap of 0
  /// Soft margin: ≥ ‖(w, b/B) − (w*, b*/B)‖. Hard margin with lower > 0: ≥ ‖w/‖w‖ − w*/‖w*‖‖; absent otherwise.
  std::optional<double> distance;
};

/// Absent when the model lacks one of the two ends. (An interpolation that misses targets has no upper end: weights
/// that do not meet them bound nothing.)
std::optional<Interval> interval_of(const ModelFigures& model);

/// What the interval is about, in one line: the largest margin, the smallest objective or the least weights, and in
/// which units.
std::string objective_name(const ModelFigures& model);

/// Why parse_options refuses these options; empty when it does not.
std::string refusal_of(const Value::Object& options);

/// Some lines of text, each ending in a newline.
std::string summary(const ModelFigures& model);

}  // namespace margin
