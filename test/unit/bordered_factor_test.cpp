// Solutions of quasi-definite systems against the products that they must give, with lines that come and go.
#include "core/math/bordered_factor.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/base/random.hpp"

namespace margin {
namespace {

TEST(BorderedFactor, SolvesAsLinesComeAndGo) {
  constexpr std::size_t most = 64;
  Random random(5);
  BorderedFactor factor(most);
  std::vector<std::vector<double>> matrix;
  std::size_t known = 0;
  for (int round = 0; round < 300; ++round) {
    known = matrix.empty() ? 0 : random.below(matrix.size() + 1);
    const std::size_t lines = known + random.below(most - known + 1);
    matrix.resize(known);
    for (std::size_t r = known; r < lines; ++r) {
      matrix.emplace_back(r + 1);
      for (std::size_t c = 0; c <= r; ++c) {
        // Lines 0, 2, … are those of a positive matrix, the others of a negative one: any factor of it exists.
        matrix[r][c] = c == r ? (r % 2 == 0 ? 20.0 : -20.0) : random.uniform() - 0.5;
        factor.set(r, c, matrix[r][c]);
      }
    }
    std::vector<double> right(lines);
    for (double& v : right) v = random.uniform() - 0.5;
    std::vector<double> x = right;
    ASSERT_TRUE(factor.solve(known, lines, x.data()));
    for (std::size_t r = 0; r < lines; ++r) {
      double sum = 0;
      for (std::size_t c = 0; c < lines; ++c) sum += matrix[std::max(r, c)][std::min(r, c)] * x[c];
      EXPECT_NEAR(sum, right[r], 1e-12) << round << ", line " << r << " of " << lines << ", " << known << " known";
    }
  }
}

TEST(BorderedFactor, RefusesPivotsThatAreNone) {
  BorderedFactor factor(8);
  factor.set(0, 0, 0);
  double right[8] = {1, 1};
  EXPECT_FALSE(factor.solve(0, 1, right));
  factor.set(0, 0, 2);
  factor.set(1, 0, 2);
  factor.set(1, 1, 2);
  EXPECT_FALSE(factor.solve(0, 2, right));
  factor.set(0, 0, std::numeric_limits<double>::quiet_NaN());
  EXPECT_FALSE(factor.solve(0, 1, right));
}

}  // namespace
}  // namespace margin
