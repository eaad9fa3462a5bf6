// Against std::sort, of numbers that digits tell apart and of those that they do not.
#include "core/math/number_sort.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace margin {
namespace {

void expect_sorted(std::vector<double> values) {
  std::vector<double> expected = values;
  std::sort(expected.begin(), expected.end());
  NumberSort()(values);
  EXPECT_EQ(values, expected);
}

TEST(NumberSort, SortsWhateverTheNumbers) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  for (const std::size_t n : {0, 1, 2, 63, 64, 65, 500, 2048, 5000}) {
    std::vector<std::vector<double>> kinds(8, std::vector<double>(n));
    for (std::size_t i = 0; i < n; ++i) {
      kinds[0][i] = normal(random);
      kinds[1][i] = static_cast<double>(random() % 5);
      kinds[2][i] = std::exp(100 * normal(random));
      kinds[3][i] = -static_cast<double>(i);
      kinds[4][i] = 1;
      // All but one within one digit: to be told apart by comparisons.
      kinds[5][i] = i == 0 ? 1e300 : std::ldexp(normal(random), -1000);
      kinds[6][i] = i % 2 == 0 ? -5e-324 : std::numeric_limits<double>::max();
      kinds[7][i] = 1 + std::ldexp(static_cast<double>(random() % 1000), -52);
    }
    for (const std::vector<double>& values : kinds) expect_sorted(values);
  }
}

}  // namespace
}  // namespace margin
