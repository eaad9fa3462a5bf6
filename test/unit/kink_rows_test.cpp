// The rows next to a kink that an audit keeps: the same ones in any order and number of parts.
#include "core/consequences/audit/kink_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/random.hpp"

namespace margin {
namespace {

struct Given {
  KinkRows::Kept row;
  std::vector<double> x;
};

std::vector<Given> make_rows(Random& random, int n, int d) {
  std::vector<Given> rows;
  for (int i = 0; i < n; ++i) {
    Given g{{std::floor(40 * random.uniform()) / 8, 1 + random.uniform(), 1, 0.5, random.uniform(), 0, 0}, {}};
    for (int j = 0; j < d; ++j) g.x.push_back(random.below(3) == 0 ? 0.0 : random.uniform());
    rows.push_back(g);
  }
  return rows;
}

void add_to(KinkRows& kept, const std::vector<Given>& rows, std::size_t from, std::size_t step) {
  for (std::size_t i = from; i < rows.size(); i += step)
    kept.add(dense_row(rows[i].x.data(), static_cast<std::int32_t>(rows[i].x.size())), rows[i].row);
}

/// Everything that is kept, as numbers.
std::vector<double> told(const KinkRows& kept) {
  std::vector<double> out;
  kept.write(out);
  return out;
}

TEST(KinkRows, AreTheNearestInAnyOrderAndNumberOfParts) {
  Random random(3);
  for (int trial = 0; trial < 60; ++trial) {
    const int d = 1 + static_cast<int>(random.below(6));
    std::vector<Given> rows = make_rows(random, 5 + static_cast<int>(random.below(300)), d);
    const std::size_t most_rows = 1 + random.below(40), most_values = 1 + random.below(120);
    KinkRows whole(most_rows, most_values), turned(most_rows, most_values), one(most_rows, most_values),
        other(most_rows, most_values);
    add_to(whole, rows, 0, 1);
    add_to(one, rows, 0, 2);
    add_to(other, rows, 1, 2);
    const std::vector<double> state = told(other), expected = told(whole);
    ASSERT_TRUE(one.merge(state.data(), state.data() + state.size(), nullptr, d));
    std::reverse(rows.begin(), rows.end());
    add_to(turned, rows, 0, 1);
    EXPECT_EQ(told(turned), expected) << trial;
    EXPECT_EQ(told(one), expected) << trial;
    // By hand: the nearest that fit.
    std::vector<double> away;
    for (const Given& g : rows) away.push_back(g.row.away);
    std::sort(away.begin(), away.end());
    std::size_t values = 0;
    for (std::size_t k = 0; k < whole.rows().size(); ++k) {
      EXPECT_EQ(whole.rows()[k].away, away[k]);
      values += static_cast<std::size_t>(whole.rows()[k].count);
    }
    EXPECT_LE(whole.rows().size(), most_rows);
    EXPECT_LE(values, most_values);
    const bool all = rows.size() * static_cast<std::size_t>(d) <= most_values && rows.size() <= most_rows;
    EXPECT_EQ(all && whole.rows().size() != rows.size(), false);
  }
}

TEST(KinkRows, KeepValuesInTheColumnsOfTheOther) {
  const double x[] = {0, 2.5, 0, -1};
  KinkRows from(4, 16), to(4, 16);
  from.add(dense_row(x, 4), {0.5, 2, -1, 0.25, 2.7, 0, 0});
  const std::vector<double> state = told(from);
  const std::vector<std::int32_t> columns = {3, 9, 5, 2};
  ASSERT_TRUE(to.merge(state.data(), state.data() + state.size(), &columns, 10));
  ASSERT_EQ(to.rows().size(), 1U);
  const KinkRows::Kept& kept = to.rows()[0];
  EXPECT_EQ(std::vector<double>({kept.away, kept.weight, kept.outcome, kept.dual, kept.norm}),
            std::vector<double>({0.5, 2, -1, 0.25, 2.7}));
  const Row row = to.values(kept);
  ASSERT_EQ(row.count, 2);
  EXPECT_EQ(row.indices[0], 9);
  EXPECT_EQ(row.indices[1], 2);
  EXPECT_EQ(row.value(0), 2.5);
  EXPECT_EQ(row.value(1), -1);
}

TEST(KinkRows, NumbersOfAnotherFormAreRefused) {
  Random random(4);
  KinkRows kept(30, 100);
  add_to(kept, make_rows(random, 40, 3), 0, 1);
  const std::vector<double> state = told(kept);
  const auto taken = [](const std::vector<double>& numbers, std::int32_t dimensions) {
    KinkRows fresh(30, 100);
    return fresh.merge(numbers.data(), numbers.data() + numbers.size(), nullptr, dimensions);
  };
  EXPECT_TRUE(taken(state, 3));
  EXPECT_FALSE(taken(state, 1));  // a column beyond
  for (std::size_t n = 0; n < state.size(); ++n)
    EXPECT_FALSE(taken({state.begin(), state.begin() + static_cast<std::ptrdiff_t>(n)}, 3));
  for (const double odd : {-1.0, 0.5, 1e18, std::nan("")})
    for (const std::size_t at : {std::size_t{0}, std::size_t{6}, std::size_t{7}}) {
      std::vector<double> changed = state;
      changed[at] = odd;
      EXPECT_FALSE(taken(changed, 3)) << odd << " at " << at;
    }
  EXPECT_FALSE(KinkRows(0, 0).wants(0));
}

}  // namespace
}  // namespace margin
