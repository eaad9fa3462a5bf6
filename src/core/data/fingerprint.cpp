#include "core/data/fingerprint.hpp"

#include <algorithm>
#include <cstring>

#include "core/simd/keyed_bits.hpp"

namespace margin {

namespace {

/// The keys of the two features of a pair.
struct Keys {
  explicit Keys(std::uint64_t pair) : at((2 * pair + 1) * key_step) {}
  std::uint64_t first() const { return mixed_key(at); }
  std::uint64_t second() const { return mixed_key(at + key_step); }
  void next() { at += 2 * key_step; }
  std::uint64_t at;
};
// What is no feature has places beyond all features.
constexpr std::uint64_t numbers_place = std::uint64_t{1} << 32, label_place = numbers_place + 2;

/// The bits of a number; those of −0 are those of 0, which are 0.
std::uint64_t bits_of(double v) {
  std::uint64_t bits;
  v += 0.0;
  std::memcpy(&bits, &v, sizeof bits);
  return bits;
}

/// low and high of a · b
struct Product {
  Product(std::uint64_t a, std::uint64_t b) {
#ifdef __SIZEOF_INT128__
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b;
    low = static_cast<std::uint64_t>(product);
    high = static_cast<std::uint64_t>(product >> 64);
#else
    const std::uint64_t a0 = a & 0xffffffffU, a1 = a >> 32, b0 = b & 0xffffffffU, b1 = b >> 32;
    const std::uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
    const std::uint64_t other = a0 * b1 + (middle & 0xffffffffU);
    low = a * b;
    high = a1 * b1 + (middle >> 32) + (other >> 32);
#endif
  }
  std::uint64_t low, high;
};

/// Σ a · b
class WideSum {
 public:
#ifdef __SIZEOF_INT128__
  __extension__ using Wide = unsigned __int128;
  void add(std::uint64_t a, std::uint64_t b) { sum_ += static_cast<Wide>(a) * b; }
  Fingerprint value() const { return {static_cast<std::uint64_t>(sum_), static_cast<std::uint64_t>(sum_ >> 64)}; }

 private:
  Wide sum_ = 0;
#else
  void add(std::uint64_t a, std::uint64_t b) {
    const Product p(a, b);
    sum_ += {p.low, p.high};
  }
  Fingerprint value() const { return sum_; }

 private:
  Fingerprint sum_;
#endif
};

/// Two neighbouring features at once; both 0 add nothing, so that sparse rows
/// have the sums of dense ones.
void add_pair(Fingerprint& sum, const Keys& keys, std::uint64_t first, std::uint64_t second) {
  const std::uint64_t any = (first | second) != 0 ? ~std::uint64_t{0} : 0;
  const Product p((first + keys.first()) & any, second + keys.second());
  sum += {p.low, p.high};
}

/// Whether two neighbouring numbers are both 0, or −0.
bool both_zero(const float* x) {
  std::uint64_t bits;
  std::memcpy(&bits, x, sizeof bits);
  return (bits & 0x7fffffff7fffffffU) == 0;
}
bool both_zero(const double* x) { return x[0] == 0 && x[1] == 0; }

/// As add_pair() of all neighbours.
template <class T>
void add_dense(Fingerprint& sum, const T* values, std::size_t count) {
  constexpr std::size_t at_once = 64;
  std::uint64_t keyed[at_once + 8];
  WideSum own;
  std::uint64_t place = 1;
  for (std::size_t n; count > 0; values += n, count -= n, place += n) {
    n = std::min(count, at_once);
    if constexpr (sizeof(T) == 4)
      keyed_bits().of_floats(values, n, place * key_step, keyed);
    else
      keyed_bits().of_doubles(values, n, place * key_step, keyed);
    for (std::size_t k = 0; k + 1 < n; k += 2) {
      own.add(both_zero(values + k) ? 0 : keyed[k], keyed[k + 1]);
    }
    if (n % 2 != 0) add_pair(sum, Keys((place + n - 2) / 2), bits_of(values[n - 1]), 0);
  }
  sum += own.value();
}

template <class T>
void add_sparse(Fingerprint& sum, const T* values, const std::int32_t* places, std::int32_t count) {
  for (std::int32_t k = 0; k < count; ++k) {
    const std::int32_t pair = places[k] / 2;
    std::uint64_t two[2] = {0, 0};
    two[places[k] % 2] = bits_of(values[k]);
    if (k + 1 < count && places[k + 1] / 2 == pair) {
      ++k;
      two[1] = bits_of(values[k]);
    }
    add_pair(sum, Keys(static_cast<std::uint64_t>(pair)), two[0], two[1]);
  }
}

/// So that every bit changes about half of all.
void mix(Fingerprint& h) {
  const Product p(h.low ^ key_step, h.high ^ 0xd6e8feb86659fd93U);
  const Product q(h.high + 0x2545f4914f6cdd1dU, h.low ^ 0xa0761d6478bd642fU);
  h.low = p.low ^ p.high ^ (q.high << 1 | q.high >> 63);
  h.high = q.low ^ q.high ^ (p.low << 32 | p.low >> 32);
}

}  // namespace

Fingerprint fingerprint_of(const Row& x, std::string_view label, double lower, double upper, double weight) {
  Fingerprint h;
  const auto count = static_cast<std::size_t>(x.count);
  if (x.indices != nullptr)
    x.wide ? add_sparse(h, x.doubles(), x.indices, x.count) : add_sparse(h, x.floats(), x.indices, x.count);
  else
    x.wide ? add_dense(h, x.doubles(), count) : add_dense(h, x.floats(), count);
  add_pair(h, Keys(numbers_place), bits_of(lower), bits_of(upper));
  add_pair(h, Keys(numbers_place + 1), bits_of(weight), label.size());
  for (Keys keys(label_place); !label.empty(); keys.next()) {
    std::uint64_t word = 0;
    const std::size_t size = std::min<std::size_t>(8, label.size());
    std::memcpy(&word, label.data(), size);
    add_pair(h, keys, word, 1);
    label.remove_prefix(size);
  }
  mix(h);
  mix(h);
  return h;
}

}  // namespace margin
