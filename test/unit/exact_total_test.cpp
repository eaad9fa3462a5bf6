// Sums without rounding, against sums of whole numbers, and whatever order and parts they are taken in.
#include "core/math/exact_total.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace margin {
namespace {

struct Totals {
  ExactTotal sum, squares;
  std::int64_t count = 0;
  void add(double v) {
    sum.add(v);
    squares.add_square(v);
    ++count;
  }
  void add(const Totals& o) {
    sum.add(o.sum);
    squares.add(o.squares);
    count += o.count;
  }
};

bool same(const ExactTotal& a, const ExactTotal& b) {
  const auto x = a.digits(), y = b.digits();
  return x.negative == y.negative && x.first == y.first && x.digits == y.digits;
}

std::vector<double> wild_numbers(std::uint64_t seed, std::size_t n) {
  std::mt19937_64 random(seed);
  std::vector<double> all;
  while (all.size() < n) {
    const std::uint64_t bits = random();
    double v;
    std::memcpy(&v, &bits, sizeof v);
    if (std::isfinite(v)) all.push_back(v);
  }
  for (const double v : {1e300, -1e300, 1e-300, 5e-324, -5e-324, 0.0, -0.0, 1.0, std::numeric_limits<double>::max()})
    all.push_back(v);
  return all;
}

TEST(ExactTotal, HasTheSameDigitsInAnyOrderAndParts) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::vector<double> all = wild_numbers(seed, 300);
    Totals whole;
    for (const double v : all) whole.add(v);
    std::mt19937_64 random(seed + 100);
    for (int trial = 0; trial < 10; ++trial) {
      std::shuffle(all.begin(), all.end(), random);
      std::vector<Totals> parts(1 + random() % 7);
      for (const double v : all) parts[random() % parts.size()].add(v);
      Totals merged;
      for (const Totals& part : parts) merged.add(part);
      EXPECT_TRUE(same(whole.sum, merged.sum));
      EXPECT_TRUE(same(whole.squares, merged.squares));
      EXPECT_EQ(whole.sum.mean(whole.count), merged.sum.mean(whole.count));
    }
  }
}

TEST(ExactTotal, LosesNothingAndCancels) {
  std::vector<double> all = wild_numbers(7, 500);
  ExactTotal sum;
  for (const double v : all) sum.add(v);
  sum.add(0.125);
  for (const double v : all) sum.add(-v);
  EXPECT_EQ(sum.mean(1), 0.125);
  sum.add(-0.125);
  EXPECT_TRUE(sum.digits().digits.empty());
  EXPECT_EQ(sum.mean(3), 0);
}

// Whole numbers below 2^53 whose sums are whole numbers that long double holds.
TEST(ExactTotal, DividesAsRounded) {
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 2000; ++trial) {
    const std::int64_t n = 1 + static_cast<std::int64_t>(random() % 1000);
    ExactTotal sum;
    std::int64_t exact = 0;
    for (std::int64_t i = 0; i < std::min<std::int64_t>(n, 20); ++i) {
      const auto v = static_cast<std::int64_t>(random() % 2000001) - 1000000;
      sum.add(static_cast<double>(v));
      exact += v;
    }
    EXPECT_EQ(sum.mean(n), static_cast<double>(exact) / static_cast<double>(n));
  }
  // Subnormal numbers, ties to even, and what is larger than half of the last place by one in the last digit.
  ExactTotal tiny;
  tiny.add(5e-324);
  EXPECT_EQ(tiny.mean(2), 0);
  tiny.add(5e-324);
  tiny.add(5e-324);
  EXPECT_EQ(tiny.mean(2), 1e-323);
  ExactTotal tie;
  tie.add(9007199254740992.0);
  tie.add(1);
  EXPECT_EQ(tie.mean(1), 9007199254740992.0);
  tie.add(5e-324);
  EXPECT_EQ(tie.mean(1), 9007199254740994.0);
  ExactTotal largest;
  for (int i = 0; i < 7; ++i) largest.add(std::numeric_limits<double>::max());
  EXPECT_EQ(largest.mean(7), std::numeric_limits<double>::max());
}

TEST(ExactTotal, KnowsTheSpreadAboutTheMean) {
  // 1, 2, ..., n far from 0: the textbook formula in doubles has no digit left.
  Totals far;
  for (int i = 1; i <= 1000; ++i) far.add(1e9 + i);
  EXPECT_DOUBLE_EQ(ExactTotal::deviation(far.sum, far.squares, 1000, 999), std::sqrt(1001.0 * 1000 / 12));
  Totals constant;
  for (int i = 0; i < 77; ++i) constant.add(0.1);
  EXPECT_EQ(ExactTotal::deviation(constant.sum, constant.squares, 77, 76), 0);
  EXPECT_EQ(constant.sum.mean(77), 0.1);
  Totals huge;
  for (const double v : {1e300, 3e300}) huge.add(v);
  EXPECT_DOUBLE_EQ(ExactTotal::deviation(huge.sum, huge.squares, 2, 1), std::sqrt(2.0) * 1e300);
  Totals small;
  for (const double v : {1e-300, 3e-300}) small.add(v);
  EXPECT_DOUBLE_EQ(ExactTotal::deviation(small.sum, small.squares, 2, 1), std::sqrt(2.0) * 1e-300);
  EXPECT_TRUE(ExactTotal::possible(far.sum, far.squares, 1000));
  EXPECT_FALSE(ExactTotal::possible(far.sum, far.squares, 999));
}

TEST(ExactTotal, TellsDigitsOfNoSum) {
  const auto digits = [](bool negative, std::int32_t first, std::vector<std::uint32_t> d) {
    return ExactTotal::sound({negative, first, std::move(d)}, ExactTotal::most_digits);
  };
  EXPECT_TRUE(digits(false, 0, {}));
  EXPECT_FALSE(digits(true, 0, {}));
  EXPECT_FALSE(digits(false, 1, {}));
  EXPECT_TRUE(digits(true, 68, {1}));
  EXPECT_FALSE(digits(true, 69, {1}));
  EXPECT_FALSE(digits(true, 68, {1, 1}));
  EXPECT_FALSE(digits(true, -1, {1}));
  EXPECT_FALSE(digits(true, 3, {0, 1}));
  EXPECT_FALSE(digits(true, 3, {1, 0}));
  ExactTotal sum;
  for (const double v : wild_numbers(9, 50)) sum.add(v);
  EXPECT_TRUE(same(sum, ExactTotal::of(sum.digits())));
}

}  // namespace
}  // namespace margin
