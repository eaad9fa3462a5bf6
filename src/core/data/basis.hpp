// What the weights of a model weigh when it is not the features themselves: decision stumps, or kernel values.
#pragma once

#include <cstdint>

#include "core/data/row.hpp"

namespace margin {

/// score(x) = Σ_s w_s φ_s(x) + b. Immutable once made.
class Basis {
 public:
  virtual ~Basis() = default;
  virtual std::int32_t size() const = 0;        ///< number of functions φ_s: weights per output
  virtual std::int32_t dimensions() const = 0;  ///< features of a row
  /// values[s] = φ_s(x) for a row that fits the dimensions.
  virtual void evaluate(const Row& x, double* values) const = 0;
};

}  // namespace margin
