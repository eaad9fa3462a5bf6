// What solvers are expected to cost moves with the problem as what they do.
#include "core/solvers/solver_costs.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/problem/problem.hpp"
#include "risk_problems.hpp"

namespace margin {
namespace {

using testing::normal;

/// Gaussian rows, of which one column is so many times as large: one that the costs look at in 300 rows of 400.
Dataset rows_of(int n, int d, double size = 1, Dataset::Outcome outcome = Dataset::Outcome::classes) {
  Random random(12);
  Dataset data(outcome);
  for (int c = 0; c < 2 && outcome == Dataset::Outcome::classes; ++c) data.classes().intern(std::to_string(c), c);
  for (int i = 0; i < n; ++i) {
    std::vector<double> x(static_cast<std::size_t>(d));
    for (double& v : x) v = normal(random);
    const double side = x[1];
    x[5] *= size;
    if (outcome == Dataset::Outcome::classes)
      data.append(dense_row(x.data(), d), i < 2 ? i : side > 0);
    else
      data.append(dense_row(x.data(), d), side);
  }
  return data;
}

Options at(double lambda, const std::string& loss) {
  Options s;
  s.lambda = lambda;
  s.loss = loss;
  return s;
}

template <class F>
double of(const Dataset& data, const Options& s, F&& figure) {
  const Problem p = make_problem(data, s);
  return figure(SolverCosts(p));
}

const auto epochs = [](const SolverCosts& c) { return c.expected_epochs(); };
const auto cg = [](const SolverCosts& c) { return c.newton_cg() / c.epoch(); };
const auto newton = [](const SolverCosts& c) { return c.newton() / c.epoch(); };

TEST(SolverCosts, EpochsGrowAsLambdaFallsUnlessRowsAreFew) {
  const Dataset many = rows_of(4000, 20), few = rows_of(100, 300);
  for (const std::string loss : {"hinge", "logistic", "squared_hinge"}) {
    EXPECT_LT(of(many, at(1, loss), epochs), 10) << loss;
    EXPECT_GT(of(many, at(1e-6, loss), epochs), 100 * of(many, at(1e-3, loss), epochs)) << loss;
    EXPECT_LE(of(few, at(1e-9, loss), epochs), 100) << loss;
    EXPECT_EQ(of(few, at(1e-9, loss), epochs), of(few, at(1e-12, loss), epochs)) << loss;
  }
}

TEST(SolverCosts, ConjugateGradientsCostMoreAsLambdaFallsButNotForOneLargeColumn) {
  const Dataset data = rows_of(300, 400), large = rows_of(300, 400, 1e4);
  for (const std::string loss : {"hinge", "logistic", "squared_hinge"}) {
    EXPECT_GT(of(data, at(1e-5, loss), cg), 2 * of(data, at(1e-1, loss), cg)) << loss;
    EXPECT_LT(of(large, at(1e-3, loss), cg), 1.5 * of(data, at(1e-3, loss), cg)) << loss;
    EXPECT_LT(of(data, at(1e-12, loss), cg), 1e6) << loss;  // no more products than the rank asks for
  }
}

/// Where the arithmetic ends, costs are still numbers to choose by.
TEST(SolverCosts, BoundsThatHoldWeightsMakeNewtonCheaper) {
  const Dataset data = rows_of(4000, 20);
  const auto held = [](const SolverCosts& c) { return c.held(); };
  for (const std::string loss : {"hinge", "logistic", "squared_hinge"}) {
    Options s = at(1e-4, loss);
    const double free = of(data, s, newton), epoch = of(data, s, [](const SolverCosts& c) { return c.epoch(); });
    EXPECT_EQ(of(data, s, held), 0) << loss;
    s.named_bounds["*"] = {-1e6, 1e6};
    EXPECT_EQ(of(data, s, held), 0) << loss;
    EXPECT_EQ(of(data, s, newton), free) << loss;
    s.named_bounds["*"] = {-1e-6, 1e-6};
    EXPECT_GT(of(data, s, held), 0.9) << loss;
    EXPECT_LT(of(data, s, newton), loss == "hinge" ? free : 0.8 * free) << loss;
    EXPECT_GT(of(data, s, [](const SolverCosts& c) { return c.epoch(); }), epoch) << loss;
    s.named_bounds = {{"2", {-1e-6, 1e-6}}};
    EXPECT_NEAR(of(data, s, held), 0.05, 1e-12) << loss;
  }
}

TEST(SolverCosts, AreNumbersAtAnyScale) {
  for (const double first : {1e-150, 1e150})
    for (const double lambda : {1e-300, 1e300})
      for (const std::string loss : {"hinge", "logistic", "squared_hinge"}) {
        const Dataset data = rows_of(50, 20, first);
        for (const double cost :
             {of(data, at(lambda, loss), epochs), of(data, at(lambda, loss), cg), of(data, at(lambda, loss), newton)})
          EXPECT_TRUE(std::isfinite(cost) && cost > 0) << first << " " << lambda << " " << loss << " " << cost;
      }
}

TEST(SolverCosts, TheSquaredLossTakesFewIterations) {
  const Dataset targets = rows_of(2000, 30, 1, Dataset::Outcome::targets);
  const auto compare = [&](auto&& cost) {
    EXPECT_LT(2 * of(targets, at(1e-3, "squared"), cost), of(targets, at(1e-3, "huber"), cost));
  };
  compare(newton);
  compare(cg);
}

}  // namespace
}  // namespace margin
