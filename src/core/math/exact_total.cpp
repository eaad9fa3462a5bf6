#include "core/math/exact_total.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace margin {

namespace {

/// Whole numbers of 0 and more: digits of base 2^32, the lowest first.
using Natural = std::vector<std::uint32_t>;

Natural product(const Natural& a, const Natural& b) {
  Natural out(a.size() + b.size(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::uint64_t t = std::uint64_t{a[i]} * b[j] + out[i + j] + carry;
      out[i + j] = static_cast<std::uint32_t>(t);
      carry = t >> 32;
    }
    out[i + b.size()] = static_cast<std::uint32_t>(carry);
  }
  return out;
}

/// The sum's digits from the lowest that there can be.
Natural from_zero(const ExactTotal::Digits& d) {
  Natural out(static_cast<std::size_t>(d.first), 0);
  out.insert(out.end(), d.digits.begin(), d.digits.end());
  return out;
}

/// a − b; false where that is below 0.
bool subtract(Natural& a, const Natural& b) {
  std::int64_t borrow = 0;
  a.resize(std::max(a.size(), b.size()), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::int64_t t = static_cast<std::int64_t>(a[i]) - (i < b.size() ? static_cast<std::int64_t>(b[i]) : 0) + borrow;
    borrow = t < 0 ? -1 : 0;
    if (t < 0) t += std::int64_t{1} << 32;
    a[i] = static_cast<std::uint32_t>(t);
  }
  return borrow == 0;
}

/// count · Σ v² − (Σ v)², in units of 2^-2148.
bool spread(const ExactTotal& sum, const ExactTotal& squares, std::int64_t count, Natural& out) {
  const auto n = static_cast<std::uint64_t>(count);
  const Natural s = from_zero(sum.digits());
  out = product(from_zero(squares.digits()), {static_cast<std::uint32_t>(n), static_cast<std::uint32_t>(n >> 32)});
  return subtract(out, product(s, s));
}

std::int64_t top_bit(const Natural& n) {
  for (std::size_t i = n.size(); i-- > 0;) {
    if (n[i] == 0) continue;
    int bit = 31;
    while ((n[i] >> bit) == 0) --bit;
    return 32 * static_cast<std::int64_t>(i) + bit;
  }
  return -1;
}

bool bit_of(const Natural& n, std::int64_t at) {
  return at >= 0 && (n[static_cast<std::size_t>(at / 32)] >> (at % 32) & 1U) != 0;
}

/// The bits from `low` up to the highest, to the nearest, ties to even; `more`: something is below bit 0.
double bits_from(const Natural& n, std::int64_t low, bool more) {
  double value = 0;
  for (std::int64_t at = top_bit(n); at >= low; --at) value = 2 * value + (bit_of(n, at) ? 1 : 0);
  if (!bit_of(n, low - 1)) return value;
  for (std::int64_t at = 0; at < low - 1 && !more; ++at) more = bit_of(n, at);
  return more || bit_of(n, low) ? value + 1 : value;
}

}  // namespace

// Neighbours mostly have the same sign and exponent, so that their mantissas add up as they are: 2^9 numbers below 2^54.
void ExactTotal::add_sorted(const std::vector<double>& values, ExactTotal& sum, ExactTotal& squares) {
  constexpr std::size_t most_together = 512;
  constexpr std::uint64_t low_mask = (std::uint64_t{1} << 27) - 1;
  for (std::size_t i = 0; i < values.size();) {
    const Parts first = parts(values[i]);
    std::uint64_t all = 0, high_square = 0, mixed = 0, low_square = 0;
    const std::size_t end = std::min(values.size(), i + most_together);
    for (; i < end; ++i) {
      const Parts p = parts(values[i]);
      if (p.position != first.position || p.negative != first.negative) break;
      const std::uint64_t high = p.mantissa >> 27, low = p.mantissa & low_mask;
      all += p.mantissa;
      high_square += high * high;
      mixed += high * low;
      low_square += low * low;
    }
    if (all == 0) continue;
    sum.add_at(all, first.position, first.negative);
    squares.add_at(high_square, 2 * first.position + 54, false);
    squares.add_at(mixed, 2 * first.position + 28, false);
    squares.add_at(low_square, 2 * first.position, false);
  }
}

void ExactTotal::make_room(std::int32_t from, std::int32_t to) {
  if (digits_.empty()) first_ = from;
  const std::int32_t first = std::min(from, first_),
                     end = std::max(to, first_ + static_cast<std::int32_t>(digits_.size()));
  std::vector<std::int64_t> wider(static_cast<std::size_t>(end - first), 0);
  std::copy(digits_.begin(), digits_.end(), wider.begin() + (first_ - first));
  digits_.swap(wider);
  first_ = first;
}

void ExactTotal::carry() {
  pending_ = 0;
  if (digits_.empty()) return;
  constexpr std::int64_t base = std::int64_t{1} << 32;
  for (std::size_t i = 0; i + 1 < digits_.size(); ++i) {
    const std::int64_t up = digits_[i] >> 32;  // towards −infinity
    digits_[i] -= up * base;
    digits_[i + 1] += up;
  }
  while (digits_.back() >= base || digits_.back() < -base) {
    const std::int64_t up = digits_.back() >> 32;
    digits_.back() -= up * base;
    digits_.push_back(up);
  }
}

void ExactTotal::add(const ExactTotal& other) {
  ExactTotal theirs = other;
  theirs.carry();
  if (theirs.digits_.empty()) return;
  make_room(theirs.first_, theirs.first_ + static_cast<std::int32_t>(theirs.digits_.size()));
  carry();
  std::int64_t* const to = digits_.data() + (theirs.first_ - first_);
  for (std::size_t i = 0; i < theirs.digits_.size(); ++i) to[i] += theirs.digits_[i];
  carry();
}

ExactTotal::Digits ExactTotal::digits() const {
  ExactTotal all = *this;
  all.carry();
  Digits out;
  out.negative = !all.digits_.empty() && all.digits_.back() < 0;
  if (out.negative) {
    for (std::int64_t& d : all.digits_) d = -d;
    all.carry();
  }
  std::size_t from = 0, end = all.digits_.size();
  while (end > 0 && all.digits_[end - 1] == 0) --end;
  while (from < end && all.digits_[from] == 0) ++from;
  out.first = from < end ? all.first_ + static_cast<std::int32_t>(from) : 0;
  for (std::size_t i = from; i < end; ++i) out.digits.push_back(static_cast<std::uint32_t>(all.digits_[i]));
  out.negative = out.negative && !out.digits.empty();
  return out;
}

bool ExactTotal::sound(const Digits& d, std::int32_t most) {
  if (d.digits.empty()) return d.first == 0 && !d.negative;
  return d.first >= 0 && d.first < most && d.digits.size() <= static_cast<std::size_t>(most - d.first) &&
         d.digits.front() != 0 && d.digits.back() != 0;
}

ExactTotal ExactTotal::of(const Digits& d) {
  ExactTotal out;
  out.first_ = d.first;
  for (const std::uint32_t digit : d.digits) {
    const auto v = static_cast<std::int64_t>(digit);
    out.digits_.push_back(d.negative ? -v : v);
  }
  return out;
}

double ExactTotal::mean(std::int64_t count) const {
  const Digits d = digits();
  const auto n = static_cast<std::uint64_t>(count);
  // One digit more than the smallest double has, so that what is left says nothing but that it is not 0.
  Natural number = from_zero(d), quotient(number.size() + 1, 0);
  number.insert(number.begin(), 0);
  std::uint64_t rest = 0;
  for (std::size_t i = number.size(); i-- > 0;)
    for (int shift = 24; shift >= 0; shift -= 8) {
      rest = rest << 8 | (number[i] >> shift & 255U);
      quotient[i] |= static_cast<std::uint32_t>(rest / n) << shift;
      rest %= n;
    }
  const std::int64_t low = std::max<std::int64_t>(32, top_bit(quotient) - 52);
  const double size = std::ldexp(bits_from(quotient, low, rest != 0), static_cast<int>(low) - 32 - 1074);
  return d.negative ? -size : size;
}

double ExactTotal::deviation(const ExactTotal& sum, const ExactTotal& squares, std::int64_t count,
                             std::int64_t freedom) {
  Natural n;
  if (!spread(sum, squares, count, n)) return 0;
  // An even number of bits is left out, so that the root is a root of what is kept.
  std::int64_t low = std::max<std::int64_t>(0, top_bit(n) - 52);
  low += low % 2;
  const double kept = bits_from(n, low, false) / static_cast<double>(count) / static_cast<double>(freedom);
  return std::ldexp(std::sqrt(kept), static_cast<int>(low / 2) - 1074);
}

bool ExactTotal::possible(const ExactTotal& sum, const ExactTotal& squares, std::int64_t count) {
  Natural n;
  return spread(sum, squares, count, n);
}

}  // namespace margin
