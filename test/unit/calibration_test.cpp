// The two maps from scores to probabilities, against definitions of this file's own.
#include "core/model/calibration.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/random.hpp"
#include "core/model/probability.hpp"

namespace margin {
namespace {

std::vector<ScoredRow> scored(int n, std::uint64_t seed, double slope = 1.5, double offset = -0.4) {
  Random random(seed);
  std::vector<ScoredRow> rows;
  for (int i = 0; i < n; ++i) {
    const double s = 6 * random.uniform() - 3;
    rows.push_back({s, 0.25 + random.uniform(), random.uniform() < sigmoid(slope * s + offset)});
  }
  return rows;
}

std::vector<double> map_of(const Calibration& c, std::vector<double> scores) {
  for (double& s : scores) {
    c.log_odds(&s, &s);
    s = sigmoid(s);
  }
  return scores;
}

Sigmoid sigmoid_of(const std::vector<ScoredRow>& rows) {
  Progress progress;
  return fit_sigmoid(rows, progress);
}
std::vector<Knot> knots_of(std::vector<ScoredRow> rows) {
  Progress progress;
  return fit_isotonic(rows, progress);
}

/// Platt's problem by nested bisection of its derivatives, which convexity makes monotone; in long double.
std::pair<long double, long double> bisected(const std::vector<ScoredRow>& rows) {
  long double sum = 0, positive = 0, negative = 0;
  for (const ScoredRow& r : rows) sum += r.weight;
  const long double scale = static_cast<long double>(rows.size()) / sum;
  for (const ScoredRow& r : rows) (r.positive ? positive : negative) += scale * r.weight;
  const long double high = (positive + 1) / (positive + 2), low = 1 / (negative + 2);
  const auto derivative = [&](long double a, long double b, bool by_a) {
    long double d = 0;
    for (const ScoredRow& r : rows)
      d += scale * r.weight * (1 / (1 + std::exp(-(a * r.score + b))) - (r.positive ? high : low)) *
           (by_a ? r.score : 1);
    return d;
  };
  const auto root = [](auto f, long double from, long double to) {
    for (int i = 0; i < 90; ++i) {
      const long double middle = (from + to) / 2;
      (f(middle) < 0 ? from : to) = middle;
    }
    return (from + to) / 2;
  };
  const auto best_b = [&](long double a) {
    return root([&](long double b) { return derivative(a, b, false); }, -200.0L, 200.0L);
  };
  const long double a = root([&](long double v) { return derivative(v, best_b(v), true); }, -20.0L, 20.0L);
  return {a, best_b(a)};
}

TEST(Platt, AgreesWithBisectionOfTheDerivatives) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const auto rows = scored(20 + static_cast<int>(seed), seed);
    const auto [a, b] = bisected(rows);
    ASSERT_GT(a, 0) << "a case for the next test";
    const Sigmoid fit = sigmoid_of(rows);
    EXPECT_NEAR(fit.slope, static_cast<double>(a), 1e-8 * static_cast<double>(a)) << seed;
    EXPECT_NEAR(fit.offset, static_cast<double>(b), 1e-8) << seed;
  }
}

TEST(Platt, StaysAtTheBoundaryWhereTheScoreMisleads) {
  auto rows = scored(200, 7, -1.5, 0.2);
  ASSERT_LT(bisected(rows).first, 0);
  const Sigmoid fit = sigmoid_of(rows);
  EXPECT_EQ(fit.slope, 0);
  for (ScoredRow& r : rows) r.score = 0;  // a = 0: the best b is that of constant scores
  EXPECT_NEAR(fit.offset, sigmoid_of(rows).offset, 1e-12);
}

TEST(Platt, HasFiniteValuesForSeparatedRowsAndAnyUnits) {
  std::vector<ScoredRow> rows;
  for (int i = 0; i < 20; ++i) rows.push_back({i < 8 ? -1.0 - i : i - 5.0, 1, i >= 8});
  const Sigmoid unit = sigmoid_of(rows);
  EXPECT_GT(unit.slope, 0);
  EXPECT_LT(unit.slope, 100);
  // Equal scores: N₊ = 12 and N₋ = 8 give the mean target (12·13/14 + 8/10)/20.
  auto equal = rows;
  for (ScoredRow& r : equal) r.score = 4;
  EXPECT_NEAR(sigmoid(sigmoid_of(equal).offset), (12 * 13.0 / 14 + 0.8) / 20, 1e-12);
  for (const double scale : {1e-150, 1e-6, 1e9, 1e300}) {
    auto scaled = rows;
    for (ScoredRow& r : scaled) r.score *= scale;
    const Sigmoid fit = sigmoid_of(scaled);
    EXPECT_NEAR(fit.slope * scale, unit.slope, 1e-6 * unit.slope) << scale;
    EXPECT_NEAR(fit.offset, unit.offset, 1e-6) << scale;
  }
  // A far offset of all scores leaves a probability for every row.
  auto moved = rows;
  for (ScoredRow& r : moved) r.score += 1e8;
  const Sigmoid fit = sigmoid_of(moved);
  EXPECT_NEAR(fit.slope, unit.slope, 1e-6 * unit.slope);
  for (std::size_t i = 0; i < rows.size(); ++i)
    EXPECT_NEAR(fit.slope * moved[i].score + fit.offset, unit.slope * rows[i].score + unit.offset, 1e-5);
}

TEST(Platt, CountsWeightsInProportion) {
  const auto rows = scored(60, 3);
  auto heavy = rows, split = rows;
  for (ScoredRow& r : heavy) r.weight *= 1e6;
  const Sigmoid fit = sigmoid_of(rows);
  EXPECT_NEAR(sigmoid_of(heavy).slope, fit.slope, 1e-9 * fit.slope);
  split.push_back({100, 0, false});  // weight 0 counts for nothing
  EXPECT_NEAR(sigmoid_of(split).slope, fit.slope, 1e-9 * fit.slope);
  EXPECT_NEAR(sigmoid_of(split).offset, fit.offset, 1e-9);
  heavy = rows;
  for (ScoredRow& r : heavy)
    if (r.positive) r.weight *= 5;
  EXPECT_GT(sigmoid_of(heavy).offset, fit.offset + 1);
}

/// The best nondecreasing sequence by trying every partition into blocks.
std::vector<double> brute_force(const std::vector<double>& y, const std::vector<double>& w) {
  std::vector<double> best;
  double least = 1e300;
  for (std::uint32_t cuts = 0; cuts < (1u << (y.size() - 1)); ++cuts) {
    std::vector<double> fit;
    double error = 0;
    for (std::size_t from = 0; from < y.size();) {
      std::size_t to = from + 1;
      while (to < y.size() && (cuts >> (to - 1) & 1) == 0) ++to;
      double mass = 0, sum = 0;
      for (std::size_t i = from; i < to; ++i) {
        mass += w[i];
        sum += w[i] * y[i];
      }
      for (std::size_t i = from; i < to; ++i) {
        fit.push_back(sum / mass);
        error += w[i] * (y[i] - sum / mass) * (y[i] - sum / mass);
      }
      from = to;
    }
    if (!std::is_sorted(fit.begin(), fit.end()) || error >= least) continue;
    least = error;
    best = fit;
  }
  return best;
}

TEST(Isotonic, PoolingAgreesWithBruteForce) {
  Random random(19);
  for (int trial = 0; trial < 300; ++trial) {
    const std::size_t n = 1 + random.below(10);
    std::vector<double> y, w;
    for (std::size_t i = 0; i < n; ++i) {
      y.push_back(trial % 2 == 0 ? random.below(2) : random.uniform());
      w.push_back(trial % 3 == 0 ? 1.0 : 0.1 + random.uniform());
    }
    const std::vector<double> fit = pool_adjacent_violators(y, w), best = brute_force(y, w);
    ASSERT_EQ(fit.size(), n);
    for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(fit[i], best[i], 1e-12) << trial;
    EXPECT_TRUE(std::is_sorted(fit.begin(), fit.end()));
  }
}

TEST(Isotonic, KnotsAreTheEndsOfBlocks) {
  // Scores 1 2 3 4 5 6 with y = 0 0 1 0 1 1: blocks {1,2} 0, {3,4} 1/2, {5,6} 1; bounds 1/8 and 7/8.
  std::vector<ScoredRow> rows;
  for (const int i : {3, 6, 1, 5, 2, 4}) rows.push_back({static_cast<double>(i), 2, i == 3 || i >= 5});
  Calibration c;
  c.knots.push_back(knots_of(rows));
  ASSERT_EQ(c.knots[0].size(), 6u);
  const std::vector<double> p = map_of(c, {-1e9, 1, 1.5, 2, 2.5, 3, 3.7, 4, 4.5, 5, 6, 1e300});
  const std::vector<double> expected = {0.125, 0.125, 0.125, 0.125, 0.3125, 0.5, 0.5, 0.5, 0.6875, 0.875, 0.875, 0.875};
  for (std::size_t i = 0; i < p.size(); ++i) EXPECT_NEAR(p[i], expected[i], 1e-12) << i;
}

TEST(Isotonic, InterpolatesBetweenAnyTwoScores) {
  Calibration c;
  for (const auto& [low, high] :
       {std::pair{-1.7e308, 1.7e308}, {0.0, 1e-323}, {1.5e-323, 2.5e-323}, {1.0, 1 + 4e-16}}) {
    c.knots = {{{low, 0.25}, {high, 0.75}}};
    const std::vector<double> p = map_of(c, {low, low / 2 + high / 2, high});
    EXPECT_NEAR(p[0], 0.25, 1e-12) << low;
    EXPECT_NEAR(p[1], 0.5, 1e-12) << low;
    EXPECT_NEAR(p[2], 0.75, 1e-12) << low;
  }
}

TEST(Isotonic, PoolsTiesAndForgetsTheOrderOfRows) {
  Random random(5);
  auto rows = scored(400, 9);
  for (ScoredRow& r : rows) r.score = std::round(4 * r.score) / 4;
  rows.push_back({50, 0, false});  // weight 0 counts for nothing
  const std::vector<Knot> knots = knots_of(rows);
  for (std::size_t i = 1; i < knots.size(); ++i) {
    EXPECT_GT(knots[i].score, knots[i - 1].score);
    EXPECT_GE(knots[i].probability, knots[i - 1].probability);
  }
  EXPECT_LE(knots.back().score, 3);
  EXPECT_GE(knots.front().probability, 1 / 402.0);
  EXPECT_LE(knots.back().probability, 401 / 402.0);
  for (std::size_t i = rows.size() - 1; i > 0; --i) std::swap(rows[i], rows[random.below(i + 1)]);
  const std::vector<Knot> again = knots_of(rows);
  ASSERT_EQ(again.size(), knots.size());
  for (std::size_t i = 0; i < knots.size(); ++i) {
    EXPECT_EQ(again[i].score, knots[i].score);
    EXPECT_NEAR(again[i].probability, knots[i].probability, 1e-12);
  }
}

TEST(Isotonic, RisesEverywhere) {
  Calibration c;
  c.knots.push_back(knots_of(scored(500, 21)));
  std::vector<double> scores;
  for (int i = -500; i <= 500; ++i) scores.push_back(i * 0.01);
  const std::vector<double> p = map_of(c, scores);
  EXPECT_TRUE(std::is_sorted(p.begin(), p.end()));
  EXPECT_GT(p.back() - p.front(), 0.5);
}

TEST(Calibration, SurvivesItsTable) {
  Calibration knots, sigmoids;
  for (std::uint64_t o = 0; o < 3; ++o) {
    knots.knots.push_back(knots_of(scored(30, o)));
    sigmoids.sigmoids.push_back(sigmoid_of(scored(30, o)));
  }
  Calibration a, b;
  EXPECT_EQ(from_table(to_table(knots), 3, 3, a), "");
  EXPECT_EQ(from_table(to_table(sigmoids), 2, 3, b), "");
  for (double s = -4; s < 4; s += 0.37) {
    double scores[3] = {s, -s, s / 2}, first[3], second[3];
    knots.log_odds(scores, first);
    a.log_odds(scores, second);
    EXPECT_TRUE(std::equal(first, first + 3, second));
    sigmoids.log_odds(scores, first);
    b.log_odds(scores, second);
    EXPECT_TRUE(std::equal(first, first + 3, second));
  }
  EXPECT_TRUE(Calibration().empty() && !a.empty() && !b.empty());
}

TEST(Calibration, RefusesTablesThatContradictThemselves) {
  const auto bad = [](const std::vector<double>& values, std::size_t columns, std::int32_t outputs) {
    Calibration c;
    return !from_table(values, columns, outputs, c).empty();
  };
  EXPECT_FALSE(bad({1, 0}, 2, 1));
  EXPECT_FALSE(bad({1, -1, 0.25, 1, 1, 0.75}, 3, 1));
  EXPECT_TRUE(bad({}, 0, 1));
  EXPECT_TRUE(bad({1, 0}, 0, 1));
  EXPECT_TRUE(bad({1, 0, 2, 3}, 4, 1));
  EXPECT_TRUE(bad({1, 0}, 2, 3));
  EXPECT_TRUE(bad({1, 0, 1, 0}, 2, 1));
  EXPECT_TRUE(bad({-1, 0}, 2, 1));
  EXPECT_TRUE(bad({1, -1, 0.75, 1, 1, 0.25}, 3, 1));          // falls
  EXPECT_TRUE(bad({1, 1, 0.25, 1, 1, 0.75}, 3, 1));           // the same score twice
  EXPECT_TRUE(bad({1, 1, 0, 1, 2, 0.75}, 3, 1));              // certainty
  EXPECT_TRUE(bad({1, 1, 0.5, 1, 2, 1}, 3, 1));               //
  EXPECT_TRUE(bad({2, 1, 0.5}, 3, 1));                        // an output that is not there
  EXPECT_TRUE(bad({1, 1, 0.5, 2, 1, 0.5}, 3, 3));             // one is missing
  EXPECT_TRUE(bad({1, 1, 0.5, 3, 1, 0.5, 2, 1, 0.5}, 3, 3));  // out of order
  EXPECT_TRUE(bad({1, 1, 0.5, 2, 1, 0.5, 1, 2, 0.6}, 3, 2));  // back again
  EXPECT_TRUE(bad({1.5, 1, 0.5}, 3, 1));
  EXPECT_TRUE(bad({0, 1, 0.5, 1, 1, 0.5}, 3, 1));  // numbered from 0
  EXPECT_TRUE(bad({0, 1, 0.5}, 3, 1));
}

}  // namespace
}  // namespace margin
