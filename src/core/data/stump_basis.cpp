#include "core/data/stump_basis.hpp"

#include <cmath>

namespace margin {

double threshold_between(double below, double above) {
  const double middle = below + 0.5 * (above - below);
  return middle < above && std::isfinite(middle) ? middle : below;
}

StumpBasis::StumpBasis(const std::vector<Stump>& stumps, std::int32_t dimensions)
    : Basis(Kind::stumps), depth_(1), dimensions_(dimensions) {
  for (const Stump& stump : stumps) trees_.push_back({stump});
}

void StumpBasis::evaluate(const Row& x, double* values) const {
  if (depth_ == 1) {
    for (std::size_t s = 0; s < trees_.size(); ++s) values[s] = trees_[s].split(value_at(x, trees_[s].split.feature));
    return;
  }
  for (std::size_t s = 0; s < trees_.size(); ++s) values[s] = trees_[s](x);
}

}  // namespace margin
