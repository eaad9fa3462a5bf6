#include "core/data/nonzeros.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace margin {
namespace {

template <class A>
void expect_same_values(const std::vector<A>& values, NonZeros& without) {
  const auto n = static_cast<std::int32_t>(values.size());
  const Row x = dense_row(values.data(), n), thin = without.of(x, 2);
  ASSERT_NE(thin.indices, nullptr);
  std::int32_t next = 0;
  for (std::int32_t k = 0; k < n; ++k) {
    if (values[static_cast<std::size_t>(k)] == 0) continue;
    ASSERT_LT(next, thin.count);
    EXPECT_EQ(thin.indices[next], k);
    EXPECT_EQ(thin.value(next++), static_cast<double>(values[static_cast<std::size_t>(k)]));
  }
  EXPECT_EQ(thin.count, next);
}

TEST(NonZeros, are_the_values_of_the_row) {
  NonZeros without;
  for (const int n : {1, 15, 16, 17, 100, 33})
    for (const int every : {1, 2, 7, 40}) {
      std::vector<double> wide(static_cast<std::size_t>(n), 0.0);
      std::vector<float> narrow(static_cast<std::size_t>(n), -0.0F);
      for (int k = n - 1; k >= 0; k -= every) {
        // Also those whose squares vanish.
        wide[static_cast<std::size_t>(k)] = k % 3 == 0 ? -std::numeric_limits<double>::denorm_min() : k + 0.5;
        narrow[static_cast<std::size_t>(k)] = k % 3 == 0 ? std::numeric_limits<float>::denorm_min() : -1.0F;
      }
      expect_same_values(wide, without);
      expect_same_values(narrow, without);
    }
}

TEST(NonZeros, leave_rows_that_are_dense_enough_as_they_are) {
  NonZeros without;
  const std::vector<double> half = {1, 0, 2, 0};
  const Row x = dense_row(half.data(), 4);
  EXPECT_EQ(without.of(x, 0.5).indices, nullptr);
  EXPECT_EQ(without.of(x, 0.6).count, 2);
  const std::int32_t columns[] = {3};
  const Row sparse = sparse_row(columns, half.data(), 1, 4);
  EXPECT_EQ(without.of(sparse, 1).values, half.data());
}

}  // namespace
}  // namespace margin
