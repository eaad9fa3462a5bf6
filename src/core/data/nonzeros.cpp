#include "core/data/nonzeros.hpp"

namespace margin {

Row NonZeros::of(const Row& x, double share) {
  if (x.indices != nullptr) return x;
  const auto n = static_cast<std::size_t>(x.count);
  const SimdLoops& loops = simd();
  const std::size_t count = x.wide ? loops.count_nonzero_d(x.doubles(), n) : loops.count_nonzero_f(x.floats(), n);
  if (!(static_cast<double>(count) < share * static_cast<double>(n))) return x;
  if (columns_.size() < n) columns_.resize(n);
  const auto found = static_cast<std::int32_t>(count);
  if (x.wide) {
    if (doubles_.size() < n) doubles_.resize(n);
    loops.nonzeros_d(x.doubles(), n, doubles_.data(), columns_.data());
    return sparse_row(columns_.data(), doubles_.data(), found, 0);
  }
  if (floats_.size() < n) floats_.resize(n);
  loops.nonzeros_f(x.floats(), n, floats_.data(), columns_.data());
  return sparse_row(columns_.data(), floats_.data(), found, 0);
}

}  // namespace margin
