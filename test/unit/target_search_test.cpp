// Quantiles of targets by scans: those that memory finds, for any targets, weights and first guess, in few scans.
#include "core/scans/target_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "core/base/random.hpp"
#include "core/loss/loss.hpp"
#include "core/options/options.hpp"
#include "core/problem/target_units.hpp"
#include "core/scans/row_source.hpp"

namespace margin {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Targets {
  std::vector<double> y, weight;
  Dataset data() const {
    Dataset rows(Dataset::Outcome::targets);
    const double x = 1;
    for (std::size_t i = 0; i < y.size(); ++i) rows.append(dense_row(&x, 1), y[i], weight.empty() ? 1.0 : weight[i]);
    return rows;
  }
};

/// Asks the rows as a training does.
double by_scans(const Targets& t, const Loss& loss, std::vector<double> guess, int& scans) {
  const Dataset rows = t.data();
  MemorySource source(rows);
  Question summary;
  summary.outcome = Dataset::Outcome::targets;
  const Answer first = source.ask(summary, {});
  scans = 0;
  return quantile_by_scans(share_below(loss), first.number(0), first.number(5), std::move(guess),
                           first.reductions().size(), [&](const std::vector<double>& search) {
                             ++scans;
                             Question q = summary;
                             q.dimensions = 1;
                             q.search = search;
                             return source.ask(Question::from_bytes(q.bytes()), {});
                           });
}

std::shared_ptr<const Loss> loss_of(double quantile) {
  Options options;
  options.quantile = quantile;
  return make_loss("quantile", options);
}

TEST(TargetSearch, FindsWhatMemoryFinds) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 400; ++trial) {
    const std::size_t n = 1 + random() % 60;
    Targets t;
    for (std::size_t i = 0; i < n; ++i) {
      double y = normal(random);
      if (trial % 4 == 1) y = std::floor(3 * y);
      if (trial % 4 == 2) y = std::ldexp(y, static_cast<int>(random() % 600) - 300);
      if (trial % 4 == 3) y = static_cast<float>(y);
      t.y.push_back(random() % 9 == 0 ? -0.0 : y);
      if (trial % 3 == 0) t.weight.push_back(static_cast<double>(random() % 4));
    }
    if (!t.weight.empty()) t.weight[0] = 1;
    for (const double share : {0.5, 0.1, 0.9}) {
      const auto loss = loss_of(share);
      const double known = best_constant({t.data()}, *loss, {});
      // Where the guess is right, too low, too high, or says nothing.
      const auto [least, most] = std::minmax_element(t.y.begin(), t.y.end());
      for (const std::vector<double>& guess : {std::vector<double>{known, known, known},
                                               {*least, *least, *least},
                                               {*most, *most, *most},
                                               {*least, 0.5 * *least + 0.5 * *most, *most}}) {
        int scans;
        EXPECT_EQ(by_scans(t, *loss, guess, scans), known) << "trial " << trial << ", share " << share;
        EXPECT_LE(scans, 6);
      }
    }
  }
}

/// Sums of weights that are the half of all but for rounding: scans that add up in another order place the median on either
/// side of it, and it is one of the two targets then.
TEST(TargetSearch, EndsWhereRoundingDecides) {
  std::mt19937_64 random(17);
  for (int trial = 0; trial < 200; ++trial) {
    Targets t;
    for (int i = 0; i < 40; ++i) {
      t.y.push_back(i);
      t.weight.push_back(0.37 * static_cast<double>(1 + random() % 5));
    }
    std::reverse_copy(t.weight.begin(), t.weight.begin() + 20, t.weight.begin() + 20);  // the same above
    std::shuffle(t.weight.begin() + 20, t.weight.end(), random);
    int scans;
    const double found = by_scans(t, *loss_of(0.5), {3, 7, 39}, scans);
    EXPECT_GE(found, 19);
    EXPECT_LE(found, 20);
  }
}

TEST(TargetSearch, AGoodGuessNeedsFewScans) {
  std::mt19937_64 random(13);
  std::lognormal_distribution<double> prices(12, 0.5);
  Targets whole, cents;
  for (int i = 0; i < 40001; ++i) {
    const double price = prices(random);
    whole.y.push_back(price);
    cents.y.push_back(std::round(price / 1000));
  }
  const auto loss = loss_of(0.5);
  for (Targets* const t : {&whole, &cents}) {
    std::vector<double> sorted = t->y;
    std::sort(sorted.begin(), sorted.end());
    int scans;
    EXPECT_EQ(by_scans(*t, *loss, {sorted[19500], sorted[20010], sorted[20500]}, scans), sorted[20000]);
    EXPECT_LE(scans, t == &cents ? 2 : 4);
  }
}

TEST(TargetSearch, CutsTheDoublesBetweenItsEnds) {
  const TargetSearch wide({-1e308, 0, 1e308}), narrow({1, 1, 1 + 1e-14});
  EXPECT_FALSE(wide.exact());
  EXPECT_TRUE(narrow.exact());
  EXPECT_EQ(narrow.first_of(0), 1);
  EXPECT_EQ(narrow.last_of(0), 1);
  EXPECT_EQ(narrow.first_of(1), std::nextafter(1.0, 2.0));
  margin::Random random(3);
  double numbers[7];
  for (int trial = 0; trial < 1000; ++trial) {
    const double y = std::ldexp(random.uniform() - 0.5, static_cast<int>(random.below(2000)) - 1000);
    Entry cell;
    ASSERT_TRUE(wide.measure(y, 2, numbers, cell));
    EXPECT_LE(wide.first_of(cell.at), y);
    EXPECT_GE(wide.last_of(cell.at), y);
    EXPECT_LT(wide.last_of(cell.at), wide.first_of(cell.at + 1));
    EXPECT_EQ(cell.value, 2);
    EXPECT_LT(cell.at, TargetSearch::cells);
  }
  Entry cell;
  EXPECT_FALSE(narrow.measure(2, 1, numbers, cell));
  EXPECT_EQ(numbers[TargetSearch::above], 2);
  EXPECT_FALSE(narrow.measure(1, 0, numbers, cell));  // a row without weight is none
  EXPECT_EQ(numbers[TargetSearch::least], infinity);
}

}  // namespace
}  // namespace margin
