// What a training may ask for that not every way to train, and not every use of its model, can do. Each of these consumers states
// in a record which it takes; refusals with their hints and margin_capabilities() follow.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/options/options.hpp"

namespace margin {

struct Problem;  // problem/problem.hpp

/// One bit each.
namespace feature {
enum Bits : unsigned {
  regression = 1U << 0,
  several_classes = 1U << 1,  ///< more than two, each against the rest
  joint_classes = 1U << 2,
  one_class = 1U << 3,
  hard_margin = 1U << 4,
  lambda_0 = 1U << 5,
  interpolation = 1U << 6,
  kernel = 1U << 7,
  stumps = 1U << 8,
  l1_ratio = 1U << 9,
  lasso = 1U << 10,   ///< an l1_ratio of 1
  bounds = 1U << 11,  ///< of weights
  penalty_factor = 1U << 12,
  offset = 1U << 13,
  free_intercept = 1U << 14,
  log_link = 1U << 15,
  standardize = 1U << 16,
  balanced_classes = 1U << 17,
  calibration = 1U << 18,
  initial = 1U << 19,
  dual_weights = 1U << 20,
  constraints = 1U << 21,  ///< on several weights
};
/// What is done with the rows before a problem is solved, or with its model afterwards.
constexpr unsigned around = standardize | balanced_classes | calibration | dual_weights;
}  // namespace feature

struct FeatureRecord {
  unsigned bit;
  std::string_view name;   ///< in tables
  std::string_view words;  ///< what has it, as "... has an offset"
};
/// In the order in which a refusal looks for them.
const std::vector<FeatureRecord>& feature_records();
/// Names of these features, in that order.
std::string names_of(unsigned features);

unsigned features_of(const Problem& problem);
/// Of a training to come: what its options tell.
unsigned features_of(const Options& options);

/// What takes models, or options, of some features only. A constant: what allocates while a library is loaded ends the
/// process where memory is short.
struct Consumer {
  std::string_view name;  ///< of the SQL function, or an option
  unsigned takes;         ///< of feature::Bits
  std::string_view hint;  ///< what to do instead
  /// Better advice where one of these is in the way.
  struct Hint {
    unsigned features;
    std::string_view text;
  };
  std::array<Hint, 7> hints = {};
};

/// Throws Error(unsupported) for the first of `features` that the consumer does not take; `subject`: "this model" or "this
/// training".
void require_features(const Consumer& consumer, unsigned features, std::string_view subject);

}  // namespace margin
