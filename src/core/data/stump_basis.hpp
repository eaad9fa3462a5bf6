// Decision stumps: h(x) = +1 where feature f of the row is above a threshold t, else −1. As the basis of a model.
#pragma once

#include <vector>

#include "core/data/basis.hpp"

namespace margin {

struct Stump {
  std::int32_t feature;
  double threshold;
  double operator()(double value) const { return value > threshold ? 1.0 : -1.0; }
};

/// The stumps of a model.
class StumpBasis final : public Basis {
 public:
  StumpBasis(std::vector<Stump> stumps, std::int32_t dimensions)
      : Basis(Kind::stumps), stumps_(std::move(stumps)), dimensions_(dimensions) {}
  std::int32_t size() const override { return static_cast<std::int32_t>(stumps_.size()); }
  std::int32_t dimensions() const override { return dimensions_; }
  void evaluate(const Row& x, double* values) const override;
  const std::vector<Stump>& stumps() const { return stumps_; }

 private:
  std::vector<Stump> stumps_;
  std::int32_t dimensions_;
};

/// The same basis as what it is; null where it is none or of another kind.
inline const StumpBasis* stumps_of(const Basis* basis) {
  return basis != nullptr && basis->kind() == Basis::Kind::stumps ? static_cast<const StumpBasis*>(basis) : nullptr;
}

}  // namespace margin
