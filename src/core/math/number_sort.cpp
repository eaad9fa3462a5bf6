#include "core/math/number_sort.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>

#include "core/base/polled.hpp"

namespace margin {

namespace {

constexpr std::uint64_t sign = std::uint64_t{1} << 63;
constexpr std::size_t few = 64;
// Among so many numbers too many share three digits.
constexpr std::size_t many = std::size_t{1} << 16;

/// Whole numbers in the order of the doubles.
std::uint64_t key_of(double v) {
  std::uint64_t bits;
  std::memcpy(&bits, &v, sizeof bits);
  return (bits & sign) != 0 ? ~bits : bits | sign;
}

double number_of(std::uint64_t key) {
  const std::uint64_t bits = (key & sign) != 0 ? key & ~sign : ~key;
  double v;
  std::memcpy(&v, &bits, sizeof v);
  return v;
}

/// f(i) of all i below n.
template <class F>
void for_slices(std::size_t n, const Progress& progress, F&& f) {
  constexpr std::size_t slice = 65536;
  for (std::size_t begin = 0; begin < n; begin += slice) {
    const std::size_t end = std::min(n, begin + slice);
    for (std::size_t i = begin; i < end; ++i) f(i);
    progress.work(4.0 * static_cast<double>(end - begin));
  }
}

}  // namespace

/// A stable pass by the digit that begins at this bit, of which `at` has the counts.
void NumberSort::pass(std::size_t bit, std::array<std::uint32_t, buckets>& at, const Progress& progress) {
  std::uint32_t before = 0;
  for (std::uint32_t& count : at) {
    const std::uint32_t next = before + count;
    count = before;
    before = next;
  }
  for_slices(keys_.size(), progress, [&](std::size_t i) {
    const std::uint64_t key = keys_[i];
    others_[at[key >> bit & (buckets - 1)]++] = key;
  });
  keys_.swap(others_);
}

/// Puts what the digits did not tell apart in order; false where that is more than they left to a few.
bool NumberSort::mend(const Progress& progress) {
  std::size_t moves = 8 * keys_.size();
  for (std::size_t i = 1; i < keys_.size(); ++i) {
    if (i % 4096 == 0) progress.work(8 * 4096.0);
    const std::uint64_t key = keys_[i];
    std::size_t to = i;
    for (; to > 0 && keys_[to - 1] > key; --to) {
      keys_[to] = keys_[to - 1];
      if (--moves == 0) {
        keys_[to - 1] = key;
        return false;
      }
    }
    keys_[to] = key;
  }
  return true;
}

void NumberSort::operator()(std::vector<double>& values, const Progress& progress) {
  if (values.size() < few) {
    std::sort(values.begin(), values.end());
    return;
  }
  keys_.resize(values.size());
  others_.resize(values.size());
  std::uint64_t least = ~std::uint64_t{0}, largest = 0;
  for_slices(values.size(), progress, [&](std::size_t i) {
    keys_[i] = key_of(values[i]);
    least = std::min(least, keys_[i]);
    largest = std::max(largest, keys_[i]);
  });
  std::size_t bits = 0;
  while (bits < 64 && (largest - least) >> bits != 0) ++bits;
  const std::size_t digits = values.size() > many ? most_digits : most_digits - 1;
  const std::size_t low = bits > digits * digit_bits ? bits - digits * digit_bits : 0;
  Counts counts{};
  for_slices(keys_.size(), progress, [&](std::size_t i) {
    const std::uint64_t key = keys_[i] -= least;
    for (std::size_t d = 0; d < digits; ++d) ++counts[d][key >> (low + d * digit_bits) & (buckets - 1)];
  });
  for (std::size_t d = 0; low + d * digit_bits < bits; ++d) pass(low + d * digit_bits, counts[d], progress);
  if (low > 0 && !mend(progress)) polled_sort(keys_.begin(), keys_.end(), std::less<>(), progress);
  for_slices(values.size(), progress, [&](std::size_t i) { values[i] = number_of(keys_[i] + least); });
}

}  // namespace margin
