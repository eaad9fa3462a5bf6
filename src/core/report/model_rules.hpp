// The bounds of a model's weights: where each weight is between them, which of them hold it, and what these cost.
#pragma once

#include <string>
#include <vector>

#include "core/model/model.hpp"

namespace margin {

/// One end of the bounds of one weight, in the user's units (problem/bounds.hpp).
struct ModelRule {
  std::int32_t output = 0, feature = 0;  ///< 0-based
  double value = 0;                      ///< of the weight
  bool upper = false;                    ///< value ≤ bound; else value ≥ bound
  double bound = 0;
  bool active = false;  ///< the weight is at the bound
  /// The derivative of the least objective in the bound: 0 or less of an upper one, 0 or more of a lower one. NaN: not told.
  double price = 0;
};

/// Every finite bound, by features, lower ones first, of each output after the other; `options` are those of the training. Of an offset and of
/// a model without bounds none. Throws Error(unsupported) for a model whose weights are not those of features.
std::vector<ModelRule> model_rules(const Model& model, const Options& options);

}  // namespace margin
