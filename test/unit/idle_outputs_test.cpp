// Thousands of classes and a limit of time: the outputs that no solver came to.
#include "core/solvers/idle_outputs.hpp"

#include <gtest/gtest.h>

#include "core/certificate/certificate.hpp"
#include "core/loss/loss.hpp"
#include "core/solvers/solver.hpp"
#include "risk_problems.hpp"

namespace margin {
namespace {

using testing::normal;

constexpr int classes = 40;

Dataset gaussian_classes() {
  Random random(5);
  Dataset data(Dataset::Outcome::classes);
  for (int c = 0; c < classes; ++c) data.classes().intern(std::to_string(100 + c), c);
  for (int i = 0; i < 10 * classes; ++i) {
    std::vector<float> x(4);
    for (float& v : x) v = static_cast<float>(normal(random));
    data.append(dense_row(x.data(), 4), i % classes, 1.0 + i % 3);
  }
  return data;
}

Options limited(const std::string& solver, const std::string& loss) {
  Options s;
  s.solver = solver;
  s.loss = loss;
  s.lambda = 1e-3;
  s.tolerance = 0;
  s.max_seconds = 1e-9;
  return s;
}

TEST(IdleOutputs, RiskOfAConstantIsTheMeanLoss) {
  const Dataset data = gaussian_classes();
  const Options s = limited("auto", "logistic");
  const Problem p = make_problem(data, s);
  Progress progress;
  margin::Run run(s, progress, "test", 1);
  for (const double score : {0.0, -1.0, 0.7}) {
    const std::vector<double> risk = risk_of_constant(p, score, run);
    ASSERT_EQ(risk.size(), static_cast<std::size_t>(classes));
    for (std::int32_t o = 0; o < classes; ++o) {
      double sum = 0;
      for (std::int64_t i = 0; i < p.rows(); ++i)
        sum += p.weight(i) / p.total_weight * p.loss->value(score, p.target(i, o));
      EXPECT_NEAR(risk[static_cast<std::size_t>(o)], sum, 1e-13);
    }
  }
}

TEST(IdleOutputs, TimeEndsATrainingBetweenOutputs) {
  const Dataset data = gaussian_classes();
  for (const char* solver : {"auto", "sdca", "sgd", "newton", "newton_cg"})
    for (const char* loss : {"hinge", "logistic"}) {
      SCOPED_TRACE(std::string(solver) + " " + loss);
      const Options s = limited(solver, loss);
      const Problem p = make_problem(data, s);
      Progress progress;
      const Solution solution = choose_solver(p, s).solve(p, s, progress);
      EXPECT_EQ(solution.status, Status::time_limit);
      for (std::int32_t o = classes / 2; o < classes; ++o) {
        EXPECT_EQ(solution.weights.row(o).norm(), 0);
        EXPECT_EQ(solution.dual.col(o).norm(), 0);
        EXPECT_EQ(solution.intercept(o), -1);  // against every class that has weights it loses
      }
      const Certificate c = certify(p, solution.weights, solution.intercept, solution.dual);
      EXPECT_GE(c.upper, c.lower);
      // Better than no model: at a score of 0 every output costs the loss at 0.
      double zero = 0;
      margin::Run run(s, progress, "test", 1);
      for (const double risk : risk_of_constant(p, 0, run)) zero += risk;
      EXPECT_LT(c.upper, zero);
    }
}

}  // namespace
}  // namespace margin
