#include "core/data/stump_basis.hpp"

namespace margin {

void StumpBasis::evaluate(const Row& x, double* values) const {
  for (std::size_t s = 0; s < stumps_.size(); ++s) values[s] = stumps_[s](value_at(x, stumps_[s].feature));
}

}  // namespace margin
