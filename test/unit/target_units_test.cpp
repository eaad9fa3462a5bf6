// Centred and scaled targets: the constants themselves, and that a shifted or stretched problem is the same problem.
#include "core/problem/target_units.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/base/random.hpp"
#include "core/train/train.hpp"
#include "risk_problems.hpp"

namespace margin {
namespace {

Dataset targets(const std::vector<double>& y, const std::vector<double>& weight = {}) {
  Dataset data(Dataset::Outcome::targets);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double x = static_cast<double>(i);
    data.append(dense_row(&x, 1), y[i], weight.empty() ? 1.0 : weight[i]);
  }
  return data;
}

double constant(const Dataset& data, const char* loss) {
  Options s;
  return best_constant({data}, *make_loss(loss, s), {});
}

TEST(TargetUnits, MedianIsThatOfTheSortedRows) {
  Random random(1);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<double> y(1 + random.below(40)), weight, expanded;
    for (double& v : y)
      v = std::ldexp(random.uniform() - 0.5, static_cast<int>(random.below(40))) * (random.below(9) > 0);
    for (const double v : y) {
      weight.push_back(static_cast<double>(random.below(4)));
      for (int k = 0; k < weight.back(); ++k) expanded.push_back(v);
    }
    if (expanded.empty()) continue;
    std::sort(expanded.begin(), expanded.end());
    const std::size_t n = expanded.size();
    const double middle = expanded[(n - 1) / 2] / 2 + expanded[n / 2] / 2;
    EXPECT_EQ(constant(targets(y, weight), "absolute"), middle);
    EXPECT_EQ(constant(targets(expanded), "huber"), middle);
  }
  EXPECT_EQ(constant(targets({-1e308, 1e308, 1e308}), "absolute"), 1e308);
  EXPECT_EQ(constant(targets({-0.0, 0.0}), "absolute"), 0.0);
}

TEST(TargetUnits, MeanAndDeviationOfFarAndHugeTargets) {
  EXPECT_NEAR(constant(targets({1e15 + 1, 1e15 + 2, 1e15 + 6}), "squared"), 1e15 + 3, 0.25);
  EXPECT_EQ(constant(targets({1e308, 1e308}), "squared"), 1e308);
  EXPECT_NEAR(constant(targets({-1e308, 1e308, 1e308}), "squared") / 1e308, 1.0 / 3, 1e-15);
  EXPECT_DOUBLE_EQ(constant(targets({1, 2, 100}, {3, 1, 0}), "squared"), 1.25);
  EXPECT_DOUBLE_EQ(target_deviation({targets({1, 2, 100}, {1, 1, 0})}, {}), 0.5);
  EXPECT_NEAR(target_deviation({targets({1e9 - 2, 1e9 + 2})}, {}), 2, 1e-12);
  EXPECT_NEAR(target_deviation({targets({-1e300, 1e300})}, {}) / 1e300, 1, 1e-15);
  EXPECT_EQ(target_deviation({targets({7, 7, 7})}, {}), 1);
  EXPECT_EQ(target_deviation({targets({1e300, 1e300 * (1 + 1e-14)})}, {}), 1);
}

TEST(TargetUnits, RefusesLabelsThatScalingTakesOutOfRange) {
  Options s;
  s.lambda = 0.1;
  s.loss = "absolute";
  const Dataset far = targets({0, 0.25, 1e152}, {1, 1, 0});
  EXPECT_NO_THROW(make_problem(far, s));
  EXPECT_NO_THROW(make_problem(targets({-1e152, 0, 1e152}), s));
  s.standardize = true;
  EXPECT_THROW(make_problem(far, s), Error);
}

constexpr const char* losses[] = {"squared", "absolute", "huber", "epsilon_insensitive", "squared_epsilon_insensitive"};

/// A noisy linear target a·y + b.
Dataset linear_rows(double factor, double shift, std::int32_t d = 3) {
  Dataset data(Dataset::Outcome::targets);
  Random random(7);
  for (int i = 0; i < 61; ++i) {
    std::vector<double> x(static_cast<std::size_t>(d));
    for (double& v : x) v = std::round(64 * random.uniform()) / 64;
    const double y = std::round(64 * (x[0] - 2 * x[1] + 0.2 * random.uniform())) / 64;
    data.append(dense_row(x.data(), d), factor * y + shift);
  }
  return data;
}

Model fit(const Dataset& data, const Options& s) {
  Progress progress;
  return train(data, s, progress);
}

TEST(TargetUnits, ShiftedTargetsAreTheSameProblem) {
  const double shift = 1048576;
  for (const char* loss : losses)
    for (const char* solver : {"auto", "sdca", "newton"})
      for (const std::int32_t d : {3, 80}) {
        Options s;
        s.lambda = 1e-3;
        s.loss = loss;
        s.solver = solver;
        s.tolerance = 1e-7;
        s.max_iterations = 3000;
        const Model near = fit(linear_rows(1, 0, d), s), far = fit(linear_rows(1, shift, d), s);
        ASSERT_EQ(far.status, Status::optimal) << loss << solver;
        EXPECT_EQ(*far.target_center, *near.target_center + shift) << loss;
        EXPECT_FALSE(far.target_scale.has_value());
        // The intervals of one optimum overlap, up to what the intercept lost of its digits.
        EXPECT_LE(far.certificate.lower, near.certificate.upper * (1 + 1e-8)) << loss << solver;
        EXPECT_GE(far.certificate.upper, near.certificate.lower * (1 - 1e-8)) << loss << solver;
        EXPECT_NEAR(far.intercept[0], near.intercept[0] + shift, 0.02) << loss << solver;
        EXPECT_LE(far.certificate.failure, far.certificate.constant_failure) << loss << solver;
      }
}

TEST(TargetUnits, StretchedTargetsAreTheSameProblemWhenStandardised) {
  for (const char* loss : losses) {
    Options s;
    s.lambda = 1e-2;
    s.loss = loss;
    s.standardize = true;
    s.tolerance = 1e-8;
    s.epsilon = 0.05;
    s.smoothing = 0.1;
    const Model one = fit(linear_rows(1, 0), s);
    s.epsilon *= 4096;  // lengths in the label's units
    s.smoothing *= 4096;
    const Model far = fit(linear_rows(4096, -1e6, 3), s);
    EXPECT_NEAR(*far.target_scale, 4096 * *one.target_scale, 1e-6) << loss;
    EXPECT_NEAR(far.certificate.upper / one.certificate.upper, 1, 1e-6) << loss;
    for (Eigen::Index j = 0; j < 3; ++j) EXPECT_NEAR(far.weights(0, j) / 4096, one.weights(0, j), 2e-3) << loss;
  }
}

TEST(TargetUnits, WarmStartSpeaksTheLabelsUnits) {
  for (const bool standardize : {false, true})
    for (const char* loss : {"squared", "huber"}) {
      Options s;
      s.lambda = 1e-3;
      s.loss = loss;
      s.solver = "newton";
      s.standardize = standardize;
      s.tolerance = 1e-6;
      s.smoothing = 300;
      const Dataset data = linear_rows(1000, 5e6);
      const Model cold = fit(data, s);
      InitialModel start;
      start.weights.assign(cold.weights.data(), cold.weights.data() + cold.weights.size());
      start.intercept = {cold.intercept[0]};
      s.initial = start;
      const Model warm = fit(data, s);
      EXPECT_LE(warm.iterations, 1) << loss << standardize;
      EXPECT_NEAR(warm.certificate.upper / cold.certificate.upper, 1, 1e-6);
    }
}

TEST(TargetUnits, WithoutInterceptNothingIsCentredAndAFarTargetIsWorseThanAConstant) {
  Options s;
  s.lambda = 1e-3;
  s.loss = "absolute";
  s.intercept = false;
  const Model m = fit(linear_rows(1, 1e6), s);
  EXPECT_FALSE(m.target_center.has_value());
  EXPECT_NEAR(*m.constant, 1e6, 10);
  EXPECT_GT(m.certificate.failure, 1000 * m.certificate.constant_failure);
}

TEST(TargetUnits, FailureOfClassesCountsWeightsOfRowsAndClasses) {
  Dataset data(Dataset::Outcome::classes);
  data.classes().intern("a", 0);
  data.classes().intern("b", 1);
  for (int i = 0; i < 10; ++i) {
    const double x = 0;
    data.append(dense_row(&x, 1), i < 3 ? 1 : 0, i < 3 ? 2.0 : 1.0);
  }
  Options s;
  s.lambda = 1;
  s.intercept = false;  // every score is 0: class a for all
  EXPECT_EQ(fit(data, s).certificate.failure, 6);
  EXPECT_EQ(fit(data, s).certificate.constant_failure, 6);
  s.class_weight["b"] = 5;
  EXPECT_EQ(fit(data, s).certificate.failure, 30);
  EXPECT_EQ(fit(data, s).certificate.constant_failure, 7);
}

}  // namespace
}  // namespace margin
