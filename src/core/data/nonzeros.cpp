#include "core/data/nonzeros.hpp"

#include <cstring>

namespace margin {

namespace {

constexpr std::int32_t stretch = 16;  // which is passed over in one where it is all zeros

template <class Bits, class A>
std::int32_t collect(const A* x, std::int32_t n, double* values, std::int32_t* columns) {
  std::int32_t count = 0;
  const auto take = [&](std::int32_t k) {
    values[count] = static_cast<double>(x[k]);
    columns[count] = k;
    count += x[k] != 0 ? 1 : 0;
  };
  std::int32_t begin = 0;
  for (; begin + stretch <= n; begin += stretch) {
    Bits any = 0;
    for (std::int32_t k = 0; k < stretch; ++k) {
      Bits bits;
      std::memcpy(&bits, x + begin + k, sizeof bits);
      any |= bits << 1;  // without the sign: -0 is 0
    }
    for (std::int32_t k = begin; any != 0 && k < begin + stretch; ++k) take(k);
  }
  for (; begin < n; ++begin) take(begin);
  return count;
}

}  // namespace

Row NonZeros::of(const Row& x, double share) {
  if (x.indices != nullptr) return x;
  const auto n = static_cast<std::size_t>(x.count);
  const SimdLoops& loops = simd();
  const std::size_t count = x.wide ? loops.count_nonzero_d(x.doubles(), n) : loops.count_nonzero_f(x.floats(), n);
  if (static_cast<double>(count) > share * static_cast<double>(n)) return x;
  if (values_.size() < n + 1) {
    values_.resize(n + 1);
    columns_.resize(n + 1);
  }
  x.wide ? collect<std::uint64_t>(x.doubles(), x.count, values_.data(), columns_.data())
         : collect<std::uint32_t>(x.floats(), x.count, values_.data(), columns_.data());
  return {values_.data(), columns_.data(), static_cast<std::int32_t>(count), true};
}

}  // namespace margin
