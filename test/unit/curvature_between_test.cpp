// Score bounds between two lambdas by curvature: against optima in between, of trainings that stop early at the ends.
#include "core/consequences/between/curvature_between.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/random.hpp"
#include "core/loss/loss.hpp"
#include "core/problem/problem.hpp"
#include "core/train/train.hpp"

namespace margin {
namespace {

Dataset rows_of(Random& random, std::int64_t rows, std::int32_t features, bool sparse) {
  Dataset data(Dataset::Outcome::classes);
  data.classes().intern("no", 0);
  data.classes().intern("yes", 0);
  for (std::int64_t i = 0; i < rows; ++i) {
    std::vector<double> x(static_cast<std::size_t>(features));
    double score = 0.3;
    for (std::size_t j = 0; j < x.size(); ++j) {
      if (sparse && random.below(12) > 0) continue;
      x[j] = (2 * random.uniform() - 1) * (j % 3 == 1 ? 3 : 1);
      score += x[j] * (j % 2 == 0 ? 1 : -0.7);
    }
    const bool yes = (score + random.uniform() - 0.5 > 0) != (random.below(8) == 0);
    data.append(dense_row(x.data(), features), static_cast<std::int32_t>(yes),
                0.5 * static_cast<double>(1 + random.below(3)));
  }
  return data;
}

PathPoint trained(const Dataset& data, Options options, double lambda, double tolerance, double constant) {
  options.lambda = lambda;
  options.tolerance = tolerance;
  options.solver = "newton";
  const Progress progress;
  const Model model = train(data, options, progress, MemoryBudget{});
  PathPoint out;
  out.lambda = lambda;
  out.weights.assign(static_cast<std::size_t>(data.dimensions()), 0.0);
  for (std::int32_t j = 0; j < model.terms(); ++j)
    out.weights[static_cast<std::size_t>(model.feature(j))] = model.weights(0, j);
  if (constant != 0) out.weights.push_back(model.intercept(0) / constant);
  return out;
}

/// What a score of a training to 13 digits may be off, by numbers of the test's own.
double off(const Row& x, double constant, const PathPoint& optimum) {
  double square = 0;
  for (const double w : optimum.weights) square += w * w;
  return 1e-9 * (1 + std::hypot(norm(x), constant) * std::sqrt(square));
}

TEST(CurvatureBetween, HoldsTheScoresOfAllOptima) {
  Random random(3);
  const Progress progress;
  std::int64_t wrong = 0, all = 0, proofs = 0, tried = 0;
  double reaches = 0, moves = 0, refined = 0, before = 0;
  for (int t = 0; t < 36; ++t) {
    const auto d = static_cast<std::int32_t>(2 + random.below(20));
    const Dataset data = rows_of(random, 60 + static_cast<std::int64_t>(random.below(120)), d, t % 4 == 3);
    Options options;
    const char* const losses[] = {"logistic", "squared_hinge", "smoothed_hinge"};
    options.loss = losses[t % 3];
    options.lambda = 1;
    const int intercept = static_cast<int>(random.below(3));
    options.intercept = intercept > 0;
    double constant = intercept > 0 ? options.intercept_scale : 0;
    const double low = std::pow(10.0, -4 + 3 * random.uniform()), high = low * (1.2 + 4 * random.uniform());
    const Problem problem = make_problem(data, options);
    const double loose = random.below(2) == 0 ? 1e-3 : 1e-6;
    const PathPoint a = trained(data, options, low, loose, constant), b = trained(data, options, high, loose, constant);
    constexpr std::size_t ranges = 8;
    std::vector<double> borders(ranges + 1);
    for (std::size_t k = 0; k <= ranges; ++k)
      borders[k] = low * std::pow(high / low, static_cast<double>(k) / static_cast<double>(ranges));
    borders.back() = high;
    CurvatureBetween curve(problem, constant, a, b, borders, {}, progress);
    ++tried;
    if (!curve.proven()) continue;
    ++proofs;
    std::vector<PathPoint> optima;  // at the borders and between
    for (std::size_t k = 0; k < 2 * ranges; ++k)
      optima.push_back(trained(
          data, options, std::min(high, low * std::pow(high / low, (static_cast<double>(k) + 0.37) / (2.0 * ranges))),
          1e-13, constant));
    for (int round = 0; round < 3; ++round) {
      double reach_sum = 0;
      for (std::int64_t i = 0; i < data.rows(); i += 3) {
        const Row x = data.row(i);
        const auto score = [&](const std::vector<double>& w) {
          return dot(x, w.data()) + (constant != 0 ? constant * w.back() : 0.0);
        };
        CurvatureBetween::Held held;
        held.length = curve.length(x);
        curve.multiply(x, held);
        for (const PathPoint& optimum : optima) {
          std::size_t range = 0;
          while (borders[range + 1] < optimum.lambda) ++range;
          for (const double sign : {-1.0, 1.0}) {
            const auto [centre, reach] = curve.highest(held, sign, range);
            wrong += sign * score(optimum.weights) > centre + reach + off(x, constant, optimum);
            ++all;
            reach_sum += reach;
          }
          moves += std::fabs(score(a.weights) - score(b.weights));
        }
      }
      if (round == 0) before += reach_sum;
      reaches += reach_sum;
      if (!curve.refine(std::vector<char>(borders.size() - 1, 1))) {
        refined += reach_sum;
        break;
      }
      if (round == 2) refined += reach_sum;
    }
  }
  EXPECT_EQ(wrong, 0) << "of " << all;
  EXPECT_GE(3 * proofs, 2 * tried);
  EXPECT_LT(reaches, moves);         // worth more than what lies between the ends
  EXPECT_LT(refined, 0.7 * before);  // points between help
}

/// As a certified selection goes on: halves of halves, from points that are there or from a training.
struct Halves {
  const Dataset& data;
  const Options& options;
  double constant;
  const std::vector<PathPoint>& optima;
  std::int64_t wrong = 0, all = 0, proofs = 0, own_middles = 0;

  void look(CurvatureBetween& curve) {
    const std::vector<double>& borders = curve.borders();
    const std::size_t ranges = borders.size() - 1;
    if (curve.proven()) {
      ++proofs;
      // The last range alone, then all.
      std::vector<char> wanted(ranges, 0);
      wanted.back() = 1;
      do check(curve);
      while (curve.refine(wanted));
      wanted.assign(ranges, 1);
      do check(curve);
      while (curve.refine(wanted));
    }
    if (ranges < 2) return;
    if (curve.has_middle())
      ++own_middles;
    else
      curve.set_middle(trained(data, options, borders[ranges / 2], 1e-4, constant).weights);
    for (const bool upper : {false, true}) {
      CurvatureBetween half(curve, upper);
      EXPECT_EQ(half.borders().size(), ranges / 2 + 1);
      look(half);
    }
  }

  void check(const CurvatureBetween& curve) {
    const std::vector<double>& borders = curve.borders();
    for (std::int64_t i = 0; i < data.rows(); i += 7) {
      const Row x = data.row(i);
      CurvatureBetween::Held held;
      held.length = curve.length(x);
      curve.multiply(x, held);
      for (const PathPoint& optimum : optima) {
        if (optimum.lambda < borders.front() || optimum.lambda > borders.back()) continue;
        std::size_t range = 0;
        while (borders[range + 1] < optimum.lambda) ++range;
        const double score = dot(x, optimum.weights.data()) + (constant != 0 ? constant * optimum.weights.back() : 0.0);
        for (const double sign : {-1.0, 1.0}) {
          const auto [centre, reach] = curve.highest(held, sign, range);
          wrong += sign * score > centre + reach + off(x, constant, optimum);
          ++all;
        }
      }
    }
  }
};

// Products of such a row are infinite and cancel to no number; found by the exact checker in a row of 1e107.
TEST(CurvatureBetween, KnowsNothingOfRowsThatOverflow) {
  Random random(7);
  const Progress progress;
  const Dataset data = rows_of(random, 80, 4, false);
  Options options;
  options.loss = "squared_hinge";
  options.lambda = 1;
  options.intercept = false;
  const Problem problem = make_problem(data, options);
  const PathPoint a = trained(data, options, 0.01, 1e-6, 0), b = trained(data, options, 0.012, 1e-6, 0);
  const CurvatureBetween curve(problem, 0, a, b, {0.01, 0.011, 0.012}, {}, progress);
  ASSERT_TRUE(curve.proven());
  const double huge = 1.7e308;
  for (const std::vector<double>& x : {std::vector<double>{huge, -huge, huge, -huge}, {huge, huge, -huge, 1}}) {
    const Row row = dense_row(x.data(), 4);
    CurvatureBetween::Held held;
    held.length = curve.length(row);
    curve.multiply(row, held);
    for (const double sign : {-1.0, 1.0}) {
      const auto [centre, reach] = curve.highest(held, sign, 0);
      EXPECT_EQ(centre + reach, HUGE_VAL);
    }
  }
}

TEST(CurvatureBetween, HalvesHoldTheScoresOfAllOptima) {
  Random random(8);
  const Progress progress;
  std::int64_t wrong = 0, all = 0, proofs = 0, own_middles = 0;
  for (int t = 0; t < 24; ++t) {
    const auto d = static_cast<std::int32_t>(2 + random.below(14));
    const Dataset data = rows_of(random, 60 + static_cast<std::int64_t>(random.below(120)), d, t % 4 == 3);
    Options options;
    const char* const losses[] = {"logistic", "squared_hinge", "smoothed_hinge"};
    options.loss = losses[t % 3];
    options.lambda = 1;
    const int intercept = static_cast<int>(random.below(3));
    options.intercept = intercept > 0;
    if (intercept == 2) options.intercept_form = InterceptForm::free;
    const double constant = intercept == 2 ? 1 : intercept > 0 ? options.intercept_scale : 0;
    const Problem problem = make_problem(data, options);
    const double low = std::pow(10.0, -4 + 3 * random.uniform()), high = 10 * low;
    constexpr std::size_t ranges = 8;
    std::vector<double> borders(ranges + 1);
    for (std::size_t k = 0; k <= ranges; ++k)
      borders[k] = low * std::pow(high / low, static_cast<double>(k) / static_cast<double>(ranges));
    borders.back() = high;
    std::vector<PathPoint> optima;
    for (std::size_t k = 0; k < 2 * ranges; ++k)
      optima.push_back(trained(
          data, options, std::min(high, low * std::pow(high / low, (static_cast<double>(k) + 0.61) / (2.0 * ranges))),
          1e-13, constant));
    // Lengths are a guess, and may be wrong.
    std::vector<double> lengths;
    if (random.below(2) == 0)
      for (std::int64_t i = 0; i < data.rows(); ++i) lengths.push_back(20 * random.uniform());
    CurvatureBetween curve(problem, constant, trained(data, options, low, 1e-3, constant),
                           trained(data, options, high, 1e-3, constant), borders, lengths, progress);
    Halves halves{data, options, constant, optima};
    halves.look(curve);
    wrong += halves.wrong, all += halves.all, proofs += halves.proofs, own_middles += halves.own_middles;
  }
  EXPECT_EQ(wrong, 0) << "of " << all;
  EXPECT_GT(proofs, 24);
  EXPECT_GT(own_middles, 24);
}

/// Columns in any units: nothing but their units differs, and so nothing of what is known of their forms.
TEST(InverseCurvature, KnowsFormsInAnyUnits) {
  Random random(6);
  const Progress progress;
  const Dataset plain = rows_of(random, 60, 5, false);
  Dataset scaled(Dataset::Outcome::classes);
  for (const char* const label : {"no", "yes"}) scaled.classes().intern(label, 0);
  const double units[5] = {1, 0x1p40, 0x1p30, 0x1p20, 1};
  for (std::int64_t i = 0; i < plain.rows(); ++i) {
    double x[5];
    for (std::int32_t j = 0; j < 5; ++j) x[j] = units[j] * plain.row(i).value(j);
    scaled.append(dense_row(x, 5), static_cast<std::int32_t>(i % 2), plain.weight(i));
  }
  Options options;
  options.loss = "logistic";
  options.lambda = 1;
  const auto inverse_of = [&](const Dataset& data) {
    const Problem problem = make_problem(data, options);
    return InverseCurvature(problem, 1e-9, 0, true, [](std::int64_t, const Row&) { return 0.2; }, progress);
  };
  const InverseCurvature one = inverse_of(plain), other = inverse_of(scaled);
  ASSERT_TRUE(one.usable());
  ASSERT_TRUE(other.usable());
  EXPECT_LT(other.safe(), 1 + 1e-9);
  const std::vector<double> sizes(5, 1.0);
  for (std::int64_t i = 0; i < plain.rows(); ++i)
    EXPECT_NEAR(one.form(plain.row(i), progress), other.form(scaled.row(i), progress),
                0.02 * one.form(plain.row(i), progress));
  // The form of a row is above 0, though every product of it vanishes.
  Dataset tiny_rows(Dataset::Outcome::targets);
  const double tiny_row[5] = {1e-170, -2e-180, 1e-170, 0, 3e-200};
  tiny_rows.append(dense_row(tiny_row, 5), 0.0);
  EXPECT_GT(one.form(tiny_rows.row(0), progress), 0);
  EXPECT_GT(one.forms(tiny_rows, progress)[0], 0);
  // ‖v‖ by the inverse is no more for any v of such sizes.
  std::vector<double> v(5);
  for (int t = 0; t < 32; ++t) {
    for (std::size_t j = 0; j < 5; ++j) v[j] = (t >> j & 1) != 0 ? 1 : -1;
    EXPECT_LE(std::sqrt(one.form(v)), one.reach(sizes));
  }
}

TEST(InverseCurvature, FormsOfAllRowsAreThoseOfEach) {
  Random random(4);
  const Progress progress;
  for (const bool sparse : {false, true}) {
    for (const bool intercept : {false, true}) {
      const Dataset data = rows_of(random, 45, 21, sparse);
      Options options;
      options.loss = "logistic";
      options.lambda = 1;
      options.intercept = intercept;
      const Problem problem = make_problem(data, options);
      const double constant = intercept ? 2.5 : 0;
      const InverseCurvature inverse(
          problem, 0.01, constant, true, [](std::int64_t i, const Row&) { return 0.1 + static_cast<double>(i % 3); },
          progress);
      ASSERT_TRUE(inverse.usable());
      const std::vector<double> forms = inverse.forms(data, progress);
      std::vector<double> wanted(45, 1.0);
      wanted[7] = wanted[44] = 0;
      const std::vector<double> some = inverse.forms(data, progress, wanted.data());
      for (std::size_t i = 0; i < some.size(); ++i)
        EXPECT_NEAR(some[i], wanted[i] > 0 ? forms[i] : -1, 1e-12 * (1 + forms[i]));
      for (std::int64_t i = 0; i < data.rows(); ++i) {
        const Row x = data.row(i);
        std::vector<double> whole(21 + (intercept ? 1 : 0), 0.0);
        for (std::int32_t k = 0; k < x.count; ++k)
          whole[static_cast<std::size_t>(x.indices != nullptr ? x.indices[k] : k)] = x.value(k);
        if (intercept) whole.back() = constant;
        const double direct = inverse.form(whole);
        EXPECT_NEAR(forms[static_cast<std::size_t>(i)], direct, 1e-12 * direct);
        EXPECT_NEAR(inverse.form(x, progress), direct, 1e-12 * direct);
      }
    }
  }
}

}  // namespace
}  // namespace margin
