// Of every combination that is 0 the last feature is left out, and no other.
#include "core/encoder/collinear.hpp"

#include <gtest/gtest.h>

#include <random>

#include "core/base/error.hpp"

namespace margin {
namespace {

TEST(CollinearFeatures, LeavesOutTheLastOfEachCombination) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 30; ++trial)
    for (const bool constant : {false, true}) {
      MemoryBudget memory;
      CollinearFeatures collinear(8, constant, trial % 2 == 0 ? -1 : 7, memory);
      for (int i = 0; i < 60; ++i) {
        const double a = 1e5 + normal(random), b = normal(random) * 1e-3, c = i % 3 == 0, d = i % 3 == 1;
        const double x[8] = {a, 0, b, c, d, 1 - c - d, a - 2e3 * b, b};
        collinear.add(dense_row(x, 8), 1 + i % 2);
        collinear.add(dense_row(x, 8), 0);
      }
      // 1 is 0 everywhere, the indicators add up to the intercept, 6 is a combination, and 7 is b itself, where looked at.
      std::vector<std::int32_t> expected = {1};
      if (constant) expected.push_back(5);
      expected.push_back(6);
      if (trial % 2 == 0) expected.push_back(7);
      EXPECT_EQ(collinear.find(Progress()), expected);
    }
}

TEST(CollinearFeatures, TakesNoMoreMemoryThanThereIs) {
  MemoryBudget memory(1e6);
  EXPECT_THROW(CollinearFeatures(5000, true, -1, memory), Error);
  EXPECT_NO_THROW(CollinearFeatures(100, true, -1, memory));
}

}  // namespace
}  // namespace margin
