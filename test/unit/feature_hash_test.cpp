// The feature of a category: fixed for ever, within the width, different for another column.
#include "core/data/feature_hash.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace margin {
namespace {

TEST(FeatureHash, stays_within_the_width_and_spreads) {
  for (const std::int32_t width : {1, 2, 7, 64, 1 << 18, 2147483647}) {
    std::set<std::int32_t> columns;
    for (int k = 0; k < 5000; ++k) {
      const std::int32_t column = hashed_column(1 + k % 3, std::to_string(k), width);
      EXPECT_TRUE(column >= 0 && column < width);
      columns.insert(column);
    }
    EXPECT_GE(columns.size(), width <= 64 ? static_cast<std::size_t>(width) : 4900u);
  }
}

TEST(FeatureHash, depends_on_column_and_bytes) {
  const std::int32_t width = 1 << 18;
  EXPECT_EQ(hashed_column(1, "red", width), hashed_column(1, std::string("red"), width));
  EXPECT_NE(hashed_column(1, "red", width), hashed_column(2, "red", width));
  EXPECT_NE(hashed_column(1, "red", width), hashed_column(1, "red ", width));
  EXPECT_NE(hashed_column(1, "", width), hashed_column(1, std::string(1, '\0'), width));
}

}  // namespace
}  // namespace margin
