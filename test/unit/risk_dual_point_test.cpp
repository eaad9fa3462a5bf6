// What is stored of the point that dual weights make: where it is, how far that may be off, and what is left of the gap, against
// their definitions in long double.
#include <gtest/gtest.h>

#include <cmath>

#include "core/certificate/ball.hpp"
#include "core/certificate/risk.hpp"
#include "risk_problems.hpp"

namespace margin {
namespace {

using testing::make_dataset;
using testing::make_table;
using testing::normal;
using testing::Table;

TEST(RiskDualPoint, IsWithinItsErrorOfThePoint) {
  Random random(61);
  int known = 0, shrunk = 0;
  for (int trial = 0; trial < 400; ++trial) {
    Options s;
    s.loss = trial % 2 == 0 ? "logistic" : "squared_hinge";
    s.lambda = std::pow(10.0, -3 * random.uniform());
    s.intercept = trial % 3 > 0;
    s.intercept_form = InterceptForm::penalized;
    s.intercept_scale = 0.5 + random.uniform();
    const Table t = make_table(random, trial % 8, true);
    const Dataset data = make_dataset(t, true);
    if (trial % 4 == 1) {
      s.l1_ratio = 0.4;
      for (std::int32_t j = 0; j < data.dimensions(); ++j)
        s.penalty_factor.push_back(j % 2 == 0 ? 0.25 : 2 + random.uniform());
    }
    if (trial % 4 == 3) s.l1_ratio = 0.2;
    const Problem p = make_problem(data, s);
    const std::int32_t d = p.dimensions();
    Weights w(1, d), a(p.rows(), 1);
    Eigen::VectorXd b(1);
    b[0] = s.intercept ? 0.1 * normal(random) : 0;
    for (std::int32_t j = 0; j < d; ++j) w(0, j) = 0.1 * normal(random);
    for (std::int64_t i = 0; i < p.rows(); ++i)
      a(i, 0) = p.loss->project(p.target(i, 0) * (0.3 + 0.1 * random.uniform()), p.target(i, 0));
    const Objective objective = objective_of(p);
    RiskCheck check(objective, w.data(), s.intercept ? b.data() : nullptr, true);
    add_rows(check, p, a);
    const auto point = check.dual_point({});
    ASSERT_NE(point, nullptr);
    if (!(check.dual(0) > 0)) continue;  // of the dual weights 0
    ++known;
    const long double total = p.total_weight, rho = p.l1_ratio, lambda = p.lambda;
    std::vector<long double> v(static_cast<std::size_t>(d), 0.0L);
    long double constant = 0;
    for (std::int64_t i = 0; i < p.rows(); ++i) {
      const Row x = p.data.row(i);
      const long double c = static_cast<long double>(p.weight(i)) * a(i, 0) / total;
      for (std::int32_t k = 0; k < x.count; ++k)
        v[static_cast<std::size_t>(x.indices != nullptr ? x.indices[k] : k)] += c * x.value(k);
      constant += c;
    }
    long double off = 0, apart = 0;
    for (std::int32_t j = 0; j < d; ++j) {
      const long double f = objective.factor(j), size = std::fabs(v[static_cast<std::size_t>(j)]),
                        left = std::max(0.0L, size - lambda * rho * f) / (lambda * (1 - rho) * f),
                        exact = std::copysign(left, v[static_cast<std::size_t>(j)]);
      const long double stored = w(0, j) + (point->offset.size() > 0 ? point->offset(0, j) : 0.0);
      off += (exact - stored) * (exact - stored);
      apart += (exact - w(0, j)) * (exact - w(0, j));
    }
    if (s.intercept) {
      const long double B = p.intercept_scale, exact = B * constant / (lambda * (1 - rho)),
                        stored = (static_cast<long double>(b[0]) + point->intercept(0)) / B;
      off += (exact - stored) * (exact - stored);
      apart += (exact - b[0] / B) * (exact - b[0] / B);
    }
    EXPECT_LE(std::sqrt(off), point->error[0]) << trial;
    EXPECT_LE(point->error[0], 1e-9L * (1 + std::sqrt(apart))) << trial;
    // P − D − (μ/2)‖w − v‖², in numbers that are no bounds.
    const long double mu = convexity(objective), exact = check.primal(0) - check.dual(0) - mu / 2 * apart;
    EXPECT_GE(point->slack[0], exact - 1e-17L) << trial;
    EXPECT_LE(point->slack[0], std::max(0.0L, exact) + 1e-9L * check.primal(0)) << trial;
    shrunk += rho > 0;
  }
  EXPECT_GT(known, 100);
  EXPECT_GT(shrunk, 30);
}

TEST(StoredDualPoint, KnowsTheWorstOfItsError) {
  Random random(62);
  Objective o;
  o.dimensions = 1;
  o.intercept = false;
  int left_out = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    o.lambda = std::pow(10.0, 4 * random.uniform() - 2);
    const double gap = random.uniform(), size = std::sqrt(2 * gap / o.lambda);
    DualPoint given;
    const double between = trial % 2 == 0 ? size * random.uniform() : size * 1e-5 * random.uniform();
    given.offset = Weights::Constant(1, 1, between);
    given.intercept = Eigen::VectorXd::Zero(1);
    given.error = {trial % 3 == 0 ? 0.0 : between * random.uniform()};
    given.total_weight = StoredSum(ExactSum::of(10, 0), 10, 10);
    const double error = given.error[0];
    const auto point = stored_dual_point(o, given, {gap});
    ASSERT_NE(point, nullptr);
    // v may be anywhere within the error: least is left of the gap where it is farthest from w, most where it is nearest.
    const long double nearest = std::max(0.0L, static_cast<long double>(between) - error),
                      left = gap - static_cast<long double>(o.lambda) / 2 * nearest * nearest;
    EXPECT_GE(point->slack[0], left) << trial;
    EXPECT_LE(point->slack[0], std::max(0.0L, left) + 1e-12L) << trial;
    const double stored = point->offset.size() > 0 ? point->offset(0, 0) : 0.0;
    left_out += point->offset.size() == 0;
    EXPECT_GE(static_cast<long double>(stored) + point->error[0], static_cast<long double>(between) + error) << trial;
    EXPECT_LE(point->error[0], (error + between) * (1 + 1e-12)) << trial;
  }
  EXPECT_GT(left_out, 100);
  // Numbers that are none are not stored.
  DualPoint given;
  given.offset = Weights::Constant(1, 1, std::nan(""));
  given.intercept = Eigen::VectorXd::Zero(1);
  given.error = {0};
  given.total_weight = StoredSum(ExactSum::of(10, 0), 10, 10);
  EXPECT_EQ(stored_dual_point(o, given, {0.1}), nullptr);
  given.offset = Weights::Constant(1, 1, 1.0);
  EXPECT_EQ(stored_dual_point(o, given, {std::numeric_limits<double>::infinity()}), nullptr);
}

TEST(BallRadius, IsTheFormulaNeverBelowIt) {
  Random random(63);
  const double infinity = std::numeric_limits<double>::infinity();
  for (int trial = 0; trial < 20000; ++trial) {
    const double mu = std::pow(10.0, 6 * random.uniform() - 3), apart = random.uniform();
    // Also where the difference of squares is all rounding.
    const double gap = mu * apart * apart / 4 *
                       (1 + (trial % 3 == 0   ? 1e-15
                             : trial % 3 == 1 ? 1e-6
                                              : 3) *
                                random.uniform());
    const long double square = static_cast<long double>(gap) / mu - static_cast<long double>(apart) * apart / 4;
    const long double exact = std::sqrt(std::max(0.0L, square));
    const double radius = ball_radius(gap, mu, apart);
    ASSERT_GE(radius, exact) << trial;
    ASSERT_LE(radius * static_cast<long double>(radius), square + 1e-14L * gap / mu + 1e-300L) << trial;
  }
  EXPECT_EQ(ball_radius(std::nan(""), 1, 0), infinity);
  EXPECT_EQ(ball_radius(infinity, 1, infinity), infinity);
  EXPECT_EQ(ball_radius(1, 1, 3), 0);
}

TEST(Convexity, IsThatOfTheLeastPenalty) {
  Objective o;
  o.lambda = 2;
  const auto is = [&](double value) {
    EXPECT_LE(convexity(o), value);
    EXPECT_NEAR(convexity(o), value, 1e-14);
  };
  is(2);
  o.l1_ratio = 0.25;
  is(1.5);
  o.penalty_factor = {3, 0.5, 2};
  is(0.75);
  o.least_factor = 0.125;  // of features that are not listed
  is(0.1875);
  o.penalty_factor.clear();
  is(0.1875);
  o.least_factor = 4;
  is(1.5);
}

}  // namespace
}  // namespace margin
