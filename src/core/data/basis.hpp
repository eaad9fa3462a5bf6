// What a model's weights belong to when they are not the features themselves: decision stumps, or kernel values. The
// set is closed: `kind` tells them apart, and stumps_of (data/stump_basis.hpp) and support_vectors_of
// (kernel/support_vectors.hpp) are the only ways back to the two types.
#pragma once

#include <cstdint>

#include "core/data/row.hpp"

namespace margin {

/// score(x) = Σ_s w_s φ_s(x) + b. Immutable once made.
class Basis {
 public:
  enum class Kind { stumps, support_vectors };

  virtual ~Basis() = default;
  Kind kind() const { return kind_; }
  virtual std::int32_t size() const = 0;        ///< number of functions φ_s: weights per output
  virtual std::int32_t dimensions() const = 0;  ///< features of a row
  /// values[s] = φ_s(x) for a row that fits the dimensions.
  virtual void evaluate(const Row& x, double* values) const = 0;

 protected:
  explicit Basis(Kind kind) : kind_(kind) {}
  Basis(const Basis&) = default;
  Basis(Basis&&) = default;

 private:
  Kind kind_;
};

}  // namespace margin
