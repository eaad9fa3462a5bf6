// What a certificate proves of parts of the optimum's scores: the optimum is in it, and it is no wider than the ball makes it.
#include "core/analysis/contribution_intervals.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/analysis/model_ball.hpp"
#include "core/model/statement_of.hpp"
#include "core/train/train.hpp"
#include "risk_problems.hpp"

namespace margin {
namespace {

using testing::make_dataset;
using testing::make_table;
using testing::normal;
using testing::Table;
using Entries = ContributionIntervals::Entries;

Entries random_entries(Random& random, std::int32_t terms, double size) {
  Entries out;
  for (std::int32_t j = 0; j < terms; ++j)
    if (random.below(3) > 0) out.emplace_back(j, size * normal(random));
  return out;
}

/// part − mean, as a dense row.
std::vector<double> difference(const Entries& part, const Entries& mean, std::int32_t terms) {
  std::vector<double> out(static_cast<std::size_t>(terms));
  for (const auto& [term, x] : part) out[static_cast<std::size_t>(term)] += x;
  for (const auto& [term, x] : mean) out[static_cast<std::size_t>(term)] -= x;
  return out;
}

TEST(ContributionIntervals, HoldTheOptimumAndAreAsWideAsTheBall) {
  Random random(7);
  Progress progress;
  int narrow = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const int classes = trial % 3 == 0 ? 3 : 2;
    const Table t = make_table(random, trial % 8, true, classes);
    const Dataset data = make_dataset(t, true, classes);
    Options s;
    s.loss = trial % 2 == 0 ? "smoothed_hinge" : "logistic";
    s.lambda = std::pow(10.0, -2 * random.uniform() - 0.5);
    s.l1_ratio = trial % 5 == 0 ? 0.3 : 0.0;
    s.intercept_form =
        trial % 4 == 1 && classes == 2 && s.l1_ratio == 0 ? InterceptForm::free : InterceptForm::penalized;
    s.tolerance = 0.02;
    const Model loose = train(data, s, progress);
    s.tolerance = 1e-11;
    s.max_iterations = 200000;
    const Model tight = train(data, s, progress);
    const auto intervals = ContributionIntervals::of(loose, s);
    ASSERT_NE(intervals, nullptr);
    const Ball ball(objective_of(loose, s), loose.weights.data(), loose.intercept.data(), loose.certificate.gap,
                    loose.dual_point.get());
    const double far = distance_to_optimum(tight, s, tight.certificate.gap);
    const std::int32_t d = loose.terms();
    for (int k = 0; k < 10; ++k) {
      const Entries mean = random_entries(random, d, std::pow(10.0, k % 3 - 1)),
                    part = k == 0 ? mean : random_entries(random, d, 1);
      intervals->set_mean(mean);
      const std::vector<double> x = difference(part, mean, d);
      const double length = Eigen::Map<const Eigen::VectorXd>(x.data(), d).norm();
      for (std::int32_t o = 0; o < loose.outputs(); ++o) {
        double lower = 0, upper = 0, optimum = 0, centre = 0;
        intervals->interval(part, o, &lower, &upper);
        for (std::int32_t j = 0; j < d; ++j) {
          optimum += x[static_cast<std::size_t>(j)] * tight.weights(o, j);
          centre += x[static_cast<std::size_t>(j)] * ball.centre()(o, j);
        }
        const double spare = length * far + 1e-12;
        EXPECT_LE(lower, optimum + spare) << trial;
        EXPECT_GE(upper, optimum - spare) << trial;
        const double reach = length * ball.radius(static_cast<std::size_t>(o));
        EXPECT_NEAR((lower + upper) / 2, centre, 1e-12 * (1 + std::fabs(centre) + length));
        EXPECT_GE((upper - lower) / 2, reach);
        // A length that is a difference of squares may be off by the root of what it is made of.
        EXPECT_LE((upper - lower) / 2, reach * (1 + 1e-12) + 1e-6 * ball.radius(static_cast<std::size_t>(o)) + 1e-12);
        narrow += upper - lower < std::fabs(optimum);
      }
    }
  }
  EXPECT_GT(narrow, 300);
}

TEST(ContributionIntervals, ForgetTheLastMean) {
  Random random(3);
  Progress progress;
  const Dataset data = make_dataset(make_table(random, 1, true, 2), true, 2);
  Options s;
  s.lambda = 0.1;
  const Model m = train(data, s, progress);
  const auto fresh = ContributionIntervals::of(m, s), used = ContributionIntervals::of(m, s);
  used->set_mean({{0, 5.0}, {1, -1e3}});
  used->set_mean({});
  double low = 0, high = 0, same_low = 1, same_high = 1;
  fresh->interval({{0, 1.0}, {1, 1.0}}, 0, &low, &high);
  used->interval({{0, 1.0}, {1, 1.0}}, 0, &same_low, &same_high);
  EXPECT_NEAR(low, same_low, 1e-12);
  EXPECT_NEAR(high, same_high, 1e-12);
}

TEST(ContributionIntervals, SayNothingWhereNothingIsKnown) {
  Random random(5);
  Progress progress;
  const Dataset data = make_dataset(make_table(random, 1, true, 2), true, 2);
  Options s;
  s.loss = "logistic";
  s.lambda = 0.1;
  const Model m = train(data, s, progress);
  double low = 0, high = 0;
  const auto intervals = ContributionIntervals::of(m, s);
  intervals->interval({{0, std::numeric_limits<double>::max()}}, 0, &low, &high);
  EXPECT_EQ(low, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(high, std::numeric_limits<double>::infinity());
  s.l1_ratio = 1;
  EXPECT_EQ(ContributionIntervals::of(train(data, s, progress), s), nullptr);
  s.l1_ratio = 0;
  Model unknown = m;
  unknown.certificate.gap = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(ContributionIntervals::of(unknown, s), nullptr);
}

}  // namespace
}  // namespace margin
