// The interval of a solver, its decision to stop, and what several outputs come to.
#include "core/solvers/interval.hpp"

#include <gtest/gtest.h>

#include "core/solvers/one_vs_rest.hpp"

namespace margin {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(MarginBounds, KeepTheBetterOfTwo) {
  MarginBounds b;
  EXPECT_FALSE(b.raise(-infinity));
  EXPECT_TRUE(b.raise(-1));
  EXPECT_FALSE(b.raise(-1));
  EXPECT_FALSE(b.raise(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_TRUE(b.reduce(2));
  EXPECT_FALSE(b.reduce(2));
  EXPECT_FALSE(b.reduce(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_EQ(b.lower, -1);
  EXPECT_EQ(b.upper, 2);
}

TEST(MarginBounds, AreWithinATolerance) {
  EXPECT_TRUE((MarginBounds{0.75, 1}).within(0.25));
  EXPECT_FALSE((MarginBounds{0.74, 1}).within(0.25));
  EXPECT_FALSE((MarginBounds{0, 0}).within(1));
  // Nothing is known from above.
  EXPECT_FALSE((MarginBounds{1, infinity}).within(0.25));
  EXPECT_FALSE(MarginBounds().within(1));
}

TEST(BestMargin, KeepsTheFirstWeightsAndBetterOnes) {
  const auto weights = [](double w) { return Weights(Weights::Constant(1, 1, w)); };
  const Eigen::VectorXd offsets = Eigen::VectorXd::Zero(2);
  BestMargin best;
  best.offer(-infinity, weights(1), offsets);
  EXPECT_EQ(best.weights(0, 0), 1);
  best.offer(-infinity, weights(2), offsets);
  EXPECT_EQ(best.weights(0, 0), 1);
  best.offer(0.5, weights(3), offsets);
  best.offer(0.25, weights(4), offsets);
  EXPECT_EQ(best.weights(0, 0), 3);
  EXPECT_EQ(best.bounds.lower, 0.5);
}

/// What MarginStop makes of bounds after iteration `done` of at most 3.
std::optional<Status> decide(const MarginBounds& bounds, std::int64_t done, std::optional<double> radius) {
  Options options;
  options.tolerance = 0.1;
  options.max_iterations = 3;
  options.history = true;
  Progress progress;
  Run run(options, progress, "test", 100);
  MarginStop stop(options, run, radius);
  Status why = Status::optimal;
  const bool over = stop(done, bounds, why);
  EXPECT_TRUE(run.last().has_value());
  EXPECT_EQ(run.last()->lower, bounds.lower);
  EXPECT_EQ(run.last()->upper, radius ? std::min(bounds.upper, *radius) : bounds.upper);
  if (!over) {
    EXPECT_EQ(why, Status::iteration_limit);
  }
  return over ? std::optional<Status>(why) : std::nullopt;
}

TEST(MarginStop, EndsAtTheToleranceAProofOrALimit) {
  EXPECT_EQ(decide({0.5, 1}, 1, 2.0), std::nullopt);
  EXPECT_EQ(decide({0.5, 1}, 3, 2.0), Status::iteration_limit);
  EXPECT_EQ(decide({0.95, 1}, 1, 2.0), Status::optimal);
  EXPECT_EQ(decide({0.95, 1}, 3, 2.0), Status::optimal);
  EXPECT_EQ(decide({0.9, 1}, 1, 2.0), std::nullopt);  // some of the tolerance is left to the certificate
  EXPECT_EQ(decide({-1, 1e-9}, 1, 2.0), Status::not_separable);
  EXPECT_EQ(decide({-1, 1e-9}, 1, std::nullopt), std::nullopt);
  EXPECT_EQ(decide({1e-11, 1e-9}, 1, 2.0), std::nullopt);  // a margin, if a small one
  EXPECT_EQ(decide({-1, infinity}, 1, 2.0), std::nullopt);
}

TEST(OneVsRest, MergesStatuses) {
  const Status order[] = {Status::optimal, Status::iteration_limit, Status::time_limit, Status::not_separable};
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 4; ++b) EXPECT_EQ(merged(order[a], order[b]), order[std::max(a, b)]);
}

TEST(OneVsRest, StopsBetweenOutputs) {
  Dataset data(Dataset::Outcome::classes);
  for (int c = 0; c < 4; ++c) {
    data.classes().intern(std::to_string(c), c);
    const float x[] = {static_cast<float>(c)};
    data.append(dense_row(x, 1), c);
  }
  Options options;
  options.lambda = 1;
  const Problem problem = make_problem(data, options);
  ASSERT_EQ(problem.outputs(), 4);
  std::vector<std::int32_t> solved;
  Status status = Status::optimal;
  const auto solve = [&](std::int32_t o) {
    solved.push_back(o);
    return o == 1 ? Status::iteration_limit : Status::optimal;
  };
  EXPECT_EQ(solve_outputs(problem, status, solve), 4);
  EXPECT_EQ(solved, (std::vector<std::int32_t>{0, 1, 2, 3}));
  EXPECT_EQ(status, Status::iteration_limit);

  solved.clear();
  status = Status::optimal;
  const auto exhausted = [&](Status& why) {
    why = Status::time_limit;
    return solved.size() == 2;
  };
  EXPECT_EQ(solve_outputs(problem, status, solve, exhausted), 2);
  EXPECT_EQ(solved.size(), 2u);
  EXPECT_EQ(status, Status::time_limit);
}

}  // namespace
}  // namespace margin
