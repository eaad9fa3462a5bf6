// A start from a model of other rows gives the scores that this model gave, wherever both know the row.
#include "core/encoder/match_initial.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "core/base/error.hpp"

namespace margin {
namespace {

Column number(const std::string& name, double center, double scale) {
  Column c{name, "float8", ColumnKind::number};
  c.fill = c.center = {center};
  c.scale = {scale};
  return c;
}
Column category(const std::string& name, std::vector<std::string> categories, std::int32_t base, bool missing) {
  Column c{name, "text", ColumnKind::category};
  c.categories = std::move(categories);
  c.base = base;
  c.missing = missing;
  return c;
}

double score(const Encoder& e, const InitialModel& m, const Cells& cells, std::size_t output) {
  Encoder::Scratch scratch;
  const FeatureRow x = *e.encode(cells, scratch);
  double sum = m.intercept[output];
  for (std::int32_t f = 0; f < e.width(); ++f)
    sum += value_at(x, f) * m.weights[output * static_cast<std::size_t>(e.width()) + static_cast<std::size_t>(f)];
  return sum;
}

/// Rows of the columns `age`, `old` (of the first encoder alone) or `young`, and `plan`.
Cells row(double age, const Encoder& e, const char* plan) {
  Cells cells;
  cells.resize(e.columns().size());
  for (std::size_t j = 0; j < cells.values.size(); ++j) {
    const Column& c = e.columns()[j];
    cells.values[j] = c.name == "age"    ? age
                      : c.name != "plan" ? c.center[0]
                      : plan == nullptr  ? std::numeric_limits<double>::quiet_NaN()
                                         : e.category(j, plan);
  }
  return cells;
}

TEST(MatchInitial, ScoresStayWhateverTheUnitsAndReferences) {
  std::mt19937_64 random(9);
  std::normal_distribution<double> normal;
  for (std::int32_t before = -1; before < 3; ++before)
    for (std::int32_t after = -1; after < 4; ++after) {
      const Encoder old({number("age", 40, 12), number("old", 1, 2), category("plan", {"a", "b", "d"}, before, true)},
                        Missing::as_trained, false);
      const Encoder now(
          {number("age", 35.5, 0.25), category("plan", {"a", "b", "c", "d"}, after, true), number("young", 3, 4)},
          Missing::as_trained, false);
      InitialModel start;
      start.encoder.data = old.to_value();
      for (std::int32_t k = 0; k < 2 * old.width(); ++k) start.weights.push_back(normal(random));
      start.intercept = {normal(random), normal(random)};
      const InitialModel given = start;
      const MatchedFeatures found = match_initial(start, now);
      ASSERT_EQ(start.weights.size(), static_cast<std::size_t>(2 * now.width()));
      EXPECT_EQ(std::count(found.gone.begin(), found.gone.end(), "old"), 1);
      EXPECT_EQ(std::count(found.fresh.begin(), found.fresh.end(), "young"), 1);
      for (const char* plan : {"a", "b", "d", static_cast<const char*>(nullptr)})
        for (const double age : {20.0, 41.5}) {
          // The category without an indicator before: its weight was 0.
          for (const std::size_t o : {0U, 1U})
            EXPECT_NEAR(score(now, start, row(age, now, plan), o), score(old, given, row(age, old, plan), o), 1e-11)
                << before << " " << after << " " << (plan == nullptr ? "NULL" : plan);
        }
    }
}

TEST(MatchInitial, TheSameFeaturesKeepTheirBits) {
  const Encoder e({number("age", 40, 12), category("plan", {"a", "b"}, 0, false)}, Missing::as_trained, true);
  InitialModel start;
  start.encoder.data = e.to_value();
  start.weights = {0.1, -0.7};
  start.intercept = {0.3};
  EXPECT_TRUE(match_initial(start, e).same());
  EXPECT_NEAR(start.weights[0], 0.1, 1e-16);
  EXPECT_EQ(start.weights[1], -0.7);
  EXPECT_EQ(start.intercept, std::vector<double>{0.3});
}

TEST(MatchInitial, ListedFeaturesAndMalformedStarts) {
  const Encoder e({number("age", 0, 1), category("plan", {"a", "b", "c"}, -1, false)}, Missing::as_trained, true);
  InitialModel start;
  start.encoder.data = e.to_value();
  start.columns = {0, 3};
  start.weights = {2, 5};
  InitialModel listed = start;
  const MatchedFeatures found = match_initial(listed, e);
  EXPECT_EQ(listed.weights, (std::vector<double>{2, 0, 0, 5}));
  EXPECT_EQ(found.fresh, (std::vector<std::string>{"plan=a", "plan=b"}));
  InitialModel beyond = start;
  beyond.columns = {0, 4};
  EXPECT_THROW(match_initial(beyond, e), Error);
  InitialModel odd = start;
  odd.weights = {1, 2, 3};
  EXPECT_THROW(match_initial(odd, e), Error);
  InitialModel none = start;
  none.encoder = {};
  EXPECT_TRUE(match_initial(none, e).same());
  EXPECT_EQ(none.weights, start.weights);
}

}  // namespace
}  // namespace margin
