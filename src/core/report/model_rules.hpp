// What a model's weights are held to, bounds and constraints: where each is between its ends, which of these hold it, and what they cost.
#pragma once

#include <string>
#include <vector>

#include "core/model/model.hpp"

namespace margin {

/// One end of the bounds of one weight, or of a constraint, in the user's units (problem/bounds.hpp, problem/constraints.hpp).
struct ModelRule {
  enum class Relation { at_least, at_most, equal };

  std::int32_t output = 0;
  std::string name;  ///< of the feature, or of the constraint
  double value = 0;  ///< of the weight, or of the sum
  Relation relation = Relation::at_least;
  double bound = 0;
  bool active = false;  ///< the value is at the bound
  /// The derivative of the least objective in the bound: 0 or less of an upper one, 0 or more of a lower one. NaN: not told.
  double price = 0;
};

/// Every finite bound, by features, lower ones first, of each output after the other, then every end of its constraints; `options` are
/// those of the training. Of an offset and of a model without bounds and constraints none. Throws Error(unsupported) for a model whose
/// weights are not those of features.
std::vector<ModelRule> model_rules(const Model& model, const Options& options);

}  // namespace margin
