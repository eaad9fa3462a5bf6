// The solvers sdca, plain and accelerated, and sgd: certified on every loss, the paper's theorems, weights as repetitions, invariances, limits.
#include "core/solvers/sdca/sdca.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <stdexcept>

#include "core/base/error.hpp"
#include "core/certificate/certificate.hpp"
#include "core/loss/registry.hpp"
#include "core/solvers/run.hpp"
#include "core/solvers/sdca/epoch.hpp"
#include "core/solvers/sdca/gap_schedule.hpp"
#include "core/solvers/solver.hpp"
#include "risk_problems.hpp"

namespace margin {

extern const Solver& sdca;
extern const Solver& sdca_accelerated;
extern const Solver& sgd;

namespace {

using testing::make_dataset;
using testing::make_table;
using testing::normal;
using testing::Table;

Options soft(const std::string& loss, double lambda, double tolerance) {
  Options s;
  s.loss = loss;
  s.lambda = lambda;
  s.tolerance = tolerance;
  s.epsilon = 0.2;
  s.smoothing = 0.6;
  s.quantile = 0.8;
  s.intercept_form = InterceptForm::penalized;
  s.max_iterations = 1000000;
  return s;
}

struct Solved {
  Solution solution;
  Certificate certificate;
};
Solved solve(const Dataset& data, const Options& s, const Solver& solver = sdca) {
  const Problem p = make_problem(data, s);
  Progress progress;
  Solved r{solver.solve(p, s, progress), {}};
  r.certificate = certify(p, r.solution.weights, r.solution.intercept, r.solution.dual);
  return r;
}

/// A larger classification or regression table, rows scaled to norm 1 when asked (as the theorems require).
Table sample(std::uint64_t seed, int n, int d, bool classes, bool unit) {
  Random random(seed);
  Table t;
  std::vector<double> w(static_cast<std::size_t>(d));
  for (double& v : w) v = normal(random);
  for (int i = 0; i < n; ++i) {
    std::vector<double> x(w.size());
    double score = normal(random), square = 0;
    for (std::size_t j = 0; j < x.size(); ++j) {
      x[j] = normal(random);
      score += w[j] * x[j];
      square += x[j] * x[j];
    }
    if (unit)
      for (double& v : x) v /= std::sqrt(square);
    t.x.push_back(x);
    t.y.push_back(classes ? (score > 0 ? 1.0 : 0.0) : score);
  }
  t.y[0] = 0;
  t.y[1] = 1;
  return t;
}

class SdcaLoss : public ::testing::TestWithParam<std::string> {
 protected:
  bool classes() const { return !is_regression_loss(GetParam()); }
};

TEST_P(SdcaLoss, ReachesTheToleranceOnRandomProblems) {
  // 80 problems a loss (16 where the test's own solver is slow), all shapes; the interval must hold the optimum that
  // this encloses.
  Random random(71);
  int enclosed = 0;
  const int trials = make_loss(GetParam(), {})->log_link() ? 16 : 80;
  for (int trial = 0; trial < trials; ++trial) {
    Options s = soft(GetParam(), std::pow(10.0, 5 * random.uniform() - 3.5), trial % 2 == 0 ? 1e-3 : 1e-6);
    s.intercept = trial % 4 < 2;
    s.intercept_scale = trial % 8 < 4 ? 1 : 2.5;
    s.l1_ratio = trial % 3 == 0 ? 0.35 : 0;
    if (trial % 8 == 5) s.max_iterations = 5000;
    Table t = testing::labels_for(GetParam(), make_table(random, trial % 8, classes()));
    if (trial % 5 == 0)
      for (int i = 0; i < t.rows(); ++i) t.weight.push_back(random.below(4) == 0 ? 0.0 : 2 * random.uniform());
    if (!t.weight.empty()) t.weight[0] = t.weight[1] = 1;
    const Dataset data = make_dataset(t, classes());
    const Solved r = solve(data, s);
    // Columns 10⁴ apart in scale are beyond coordinate ascent (newton's job): there it must only be honest.
    if (trial % 8 != 5) {
      EXPECT_EQ(r.solution.status, Status::optimal) << trial;
    }
    EXPECT_EQ(r.solution.status == Status::optimal, r.certificate.relative_gap <= s.tolerance * (1 + 1e-6)) << trial;

    const Problem p = make_problem(data, s);
    std::vector<double> y, c;
    for (std::int64_t i = 0; i < p.rows(); ++i) {
      y.push_back(p.target(i, 0));
      c.push_back(p.weight(i));
    }
    const testing::Reference reference = testing::solve_reference(t, y, c, p.total_weight, GetParam(), s, 20000);
    EXPECT_LE(r.certificate.lower, reference.primal) << trial;
    EXPECT_GE(r.certificate.upper, reference.dual) << trial;
    enclosed += reference.primal - reference.dual <= 1e-6 * reference.primal;
  }
  EXPECT_GE(enclosed, trials * 7 / 8);
}

TEST_P(SdcaLoss, HugeAndTinyLambda) {
  const Table t = testing::labels_for(GetParam(), sample(5, 60, 3, classes(), true));
  const Dataset data = make_dataset(t, classes());
  for (const double lambda : {1e6, 1e12}) {
    const Solved r = solve(data, soft(GetParam(), lambda, 1e-9));
    EXPECT_EQ(r.solution.status, Status::optimal) << lambda;
    EXPECT_LE(r.solution.weights.norm(), 20 / lambda);
  }
  Options s = soft(GetParam(), 1e-9, 1e-3);
  s.max_iterations = 3000;  // may not be enough: the certificate has to stay honest all the same
  const Solved r = solve(data, s);
  EXPECT_TRUE(std::isfinite(r.certificate.upper));
  EXPECT_GE(r.certificate.lower, 0);
  EXPECT_EQ(r.solution.status == Status::optimal, r.certificate.relative_gap <= 1e-3);
}

TEST_P(SdcaLoss, AWeightIsARepetition) {
  Random random(9);
  Table once = testing::labels_for(GetParam(), sample(9, 40, 3, classes(), false)), repeated = once;
  for (int i = 0; i < 40; ++i) once.weight.push_back(1.0 + random.below(3));
  for (int i = 0; i < 40; ++i)
    for (int k = 1; k < once.weight[static_cast<std::size_t>(i)]; ++k) {
      repeated.x.push_back(once.x[static_cast<std::size_t>(i)]);
      repeated.y.push_back(once.y[static_cast<std::size_t>(i)]);
    }
  const Options s = soft(GetParam(), 0.01, 1e-9);
  const Dataset weighted = make_dataset(once, classes()), plain = make_dataset(repeated, classes());
  const Solved a = solve(weighted, s), b = solve(plain, s);
  EXPECT_NEAR(a.certificate.upper, b.certificate.upper, 3e-9 * a.certificate.upper);
  // The weighted solution, its duals copied to the repetitions, has the same two values on the repeated rows.
  const Problem p = make_problem(plain, s);
  Weights dual(p.rows(), 1);
  dual.topRows(40) = a.solution.dual;
  Eigen::Index at = 40;
  for (int i = 0; i < 40; ++i)
    for (int k = 1; k < once.weight[static_cast<std::size_t>(i)]; ++k) dual(at++, 0) = a.solution.dual(i, 0);
  const Certificate c = certify(p, a.solution.weights, a.solution.intercept, dual);
  EXPECT_NEAR(c.upper, a.certificate.upper, 1e-13 * c.upper);
  EXPECT_NEAR(c.lower, a.certificate.lower, 1e-13 * c.upper);
}

TEST_P(SdcaLoss, PowersOfTwoScaleToTheBit) {
  // x → 2x with λ → 4λ is the same problem in other units; so are all weights × 4.
  Table t = testing::labels_for(GetParam(), sample(3, 80, 4, classes(), false)), doubled = t, heavy = t;
  for (auto& x : doubled.x)
    for (double& v : x) v *= 2;
  heavy.weight.assign(80, 4.0);
  Options s = soft(GetParam(), 0.015625, 1e-6);
  s.intercept = false;
  const Solved a = solve(make_dataset(t, classes()), s), c = solve(make_dataset(heavy, classes()), s);
  s.lambda = 0.0625;
  const Solved b = solve(make_dataset(doubled, classes()), s);
  EXPECT_EQ(a.solution.weights, 2 * b.solution.weights);
  EXPECT_EQ(a.solution.dual, b.solution.dual);
  EXPECT_EQ(a.solution.weights, c.solution.weights);
}

TEST_P(SdcaLoss, SameSeedSameBits) {
  const Dataset data = make_dataset(testing::labels_for(GetParam(), sample(13, 100, 4, classes(), false)), classes());
  Options s = soft(GetParam(), 0.01, 1e-6);
  const Solved a = solve(data, s), b = solve(data, s);
  EXPECT_EQ(a.solution.weights, b.solution.weights);
  EXPECT_EQ(a.solution.dual, b.solution.dual);
  s.seed = 1;
  const Solved c = solve(data, s);
  EXPECT_NE(a.solution.dual, c.solution.dual);
  EXPECT_NEAR(a.certificate.upper, c.certificate.upper, 2e-6 * a.certificate.upper);
}

TEST_P(SdcaLoss, OrdersOutputsAndStarts) {
  const Dataset data = make_dataset(testing::labels_for(GetParam(), sample(17, 120, 4, classes(), false)), classes());
  for (const Order order : {Order::permutation, Order::random, Order::cyclic})
    for (const Output output : {Output::last, Output::average, Output::random})
      for (const Start start : {Start::zero, Start::sgd})
        for (const double l1 : {0.0, 0.3}) {
          Options s = soft(GetParam(), 0.05, 1e-3);
          s.order = order;
          s.output = output;
          s.start = start;
          s.l1_ratio = l1;
          s.max_iterations = 20000;
          const Solved r = solve(data, s);
          EXPECT_EQ(r.solution.status, Status::optimal) << static_cast<int>(order) << static_cast<int>(output);
          EXPECT_LE(r.certificate.relative_gap, 1e-3 * (1 + 1e-6))
              << static_cast<int>(order) << static_cast<int>(output);
        }
}

TEST_P(SdcaLoss, Theorems1And2) {
  if (GetParam() == "poisson") return;  // neither smooth nor Lipschitz: of these are the theorems
  // E[gap] ≤ ε after the stated number of iterations: the mean over seeds may not exceed it.
  const int n = 200;
  const Dataset data = make_dataset(testing::labels_for(GetParam(), sample(19, n, 6, classes(), true)), classes());
  for (const double lambda : {0.1, 0.01}) {
    Options s = soft(GetParam(), lambda, 1e-300);
    s.intercept = false;
    s.order = Order::random;
    const Problem p = make_problem(data, s);
    // Theorem 2 asks for φ(0) ≤ 1 (D* − D(0) ≤ 1), both for Lipschitz or smooth losses: relative to the mean of φ(0).
    double at_zero = 0;
    for (std::int64_t i = 0; i < n; ++i) at_zero = std::max(at_zero, p.loss->value(0, p.target(i, 0)));
    const double size = std::max(1.0, at_zero);
    for (const double epsilon : {0.1, 0.01, 0.001}) {
      double iterations = 0;
      if (p.loss->smoothness() > 0) {
        const double m = n + 1 / (lambda * p.loss->smoothness());
        iterations = m * std::log(m / epsilon);
        s.output = Output::last;
      } else {
        const double lipschitz = p.loss->lipschitz();
        const double first = std::max(0.0, std::ceil(n * std::log(0.5 * lambda * n / (lipschitz * lipschitz)))) +
                             20 * lipschitz * lipschitz / (lambda * epsilon);
        iterations = 2 * first + n;
        s.output = Output::average;
      }
      double epochs = std::floor(iterations / n);
      if (s.output == Output::average) epochs = std::exp2(std::floor(std::log2(epochs)));  // T₀ = T/2 exactly
      s.max_iterations = static_cast<std::int64_t>(epochs);
      double mean = 0;
      for (std::uint64_t seed = 0; seed < 4; ++seed) {
        s.seed = seed;
        Progress progress;
        const Solution r = sdca.solve(p, s, progress);
        EXPECT_LE(r.iterations, *s.max_iterations);
        mean += certify(p, r.weights, r.intercept, r.dual).gap / 4;
      }
      EXPECT_LE(mean, epsilon * size) << lambda << " " << epsilon << " after " << epochs << " epochs";
    }
  }
}

TEST_P(SdcaLoss, WarmStartsContinue) {
  const Dataset data = make_dataset(testing::labels_for(GetParam(), sample(29, 300, 5, classes(), false)), classes());
  Options s = soft(GetParam(), 0.003, 1e-6);
  const Solved cold = solve(data, s);
  s.initial = InitialModel{};
  s.initial->weights.assign(cold.solution.weights.data(), cold.solution.weights.data() + cold.solution.weights.size());
  s.initial->intercept = {cold.solution.intercept[0]};
  s.initial->dual_weights.assign(cold.solution.dual.data(), cold.solution.dual.data() + cold.solution.dual.size());
  const Solved warm = solve(data, s);
  EXPECT_EQ(warm.solution.status, Status::optimal);
  EXPECT_LE(warm.solution.iterations, 2);
  s.initial->dual_weights.clear();
  const Solved primal_only = solve(data, s);
  EXPECT_EQ(primal_only.solution.status, Status::optimal);
  EXPECT_LE(primal_only.certificate.upper, cold.certificate.upper * (1 + 1e-12)) << "the given weights count";
  // Weights determine the duals of a smooth loss; those of rows on a kink they leave open.
  if (make_problem(data, s).loss->smoothness() > 0) {
    EXPECT_LE(primal_only.solution.iterations, cold.solution.iterations / 2);
  }
  s.initial->weights.pop_back();
  EXPECT_THROW(solve(data, s), Error);
}

TEST_P(SdcaLoss, SgdIsCertifiedToo) {
  if (GetParam() == "poisson") return;  // refused, see solver_record_test.cpp
  const Dataset data = make_dataset(testing::labels_for(GetParam(), sample(37, 400, 4, classes(), true)), classes());
  Options s = soft(GetParam(), 0.05, 1e-2);
  s.max_iterations = 512;
  const Solved r = solve(data, s, sgd), best = solve(data, s);
  EXPECT_GE(r.certificate.upper, best.certificate.lower);
  EXPECT_LE(r.certificate.lower, best.certificate.upper);
  EXPECT_LE(r.certificate.upper, best.certificate.upper * 1.05) << "it does descend";
  EXPECT_EQ(r.solution.status == Status::optimal, r.certificate.relative_gap <= 1e-2);
  const Solved again = solve(data, s, sgd);
  EXPECT_EQ(r.solution.weights, again.solution.weights);
}

TEST_P(SdcaLoss, AcceleratedReachesTheSameOptimum) {
  const auto loss = make_loss(GetParam(), {});
  if (!loss->smooth() || loss->log_link()) return;  // refused, see solver_record_test.cpp
  Random random(73);
  for (int trial = 0; trial < 40; ++trial) {
    Options s = soft(GetParam(), std::pow(10.0, 4 * random.uniform() - 3), 1e-6);
    s.intercept = trial % 4 < 2;
    s.order = trial % 3 == 0 ? Order::random : Order::permutation;
    Table t = testing::labels_for(
        GetParam(), sample(100 + static_cast<std::uint64_t>(trial), 20 + 3 * trial, 4, classes(), trial % 2 == 0));
    if (trial % 5 == 0)
      for (int i = 0; i < t.rows(); ++i) t.weight.push_back(i > 1 && random.below(4) == 0 ? 0.0 : 1 + random.uniform());
    const Dataset data = make_dataset(t, classes());
    const Solved fast = solve(data, s, sdca_accelerated), plain = solve(data, s);
    EXPECT_EQ(fast.solution.status, Status::optimal) << trial;
    EXPECT_LE(fast.certificate.relative_gap, 1e-6) << trial;
    EXPECT_GE(fast.certificate.upper, plain.certificate.lower) << trial;
    EXPECT_LE(fast.certificate.lower, plain.certificate.upper) << trial;
  }
}

TEST_P(SdcaLoss, AnAbsoluteGapIsEnough) {
  const Dataset data = make_dataset(testing::labels_for(GetParam(), sample(41, 300, 4, classes(), true)), classes());
  Options s = soft(GetParam(), 0.05, 0);
  s.gap_tolerance = 0.01;
  s.max_iterations = 5000;
  for (const Solver* solver : {&sdca, &sgd, &sdca_accelerated}) {
    if (!solver->unsupported_reason(make_problem(data, s)).empty()) continue;
    const Solved r = solve(data, s, *solver);
    EXPECT_EQ(r.solution.status == Status::optimal, r.certificate.gap <= 0.01) << solver->name();
    if (solver != &sgd) {
      EXPECT_EQ(r.solution.status, Status::optimal) << solver->name();
    }
  }
}

TEST(Sdca, GoesOnForAsLongAsItIsToldTo) {
  Random random(43);
  Dataset data(Dataset::Outcome::classes);
  for (int c = 0; c < 3; ++c) data.classes().intern(std::to_string(c), c);
  for (int i = 0; i < 300; ++i) {
    std::vector<double> x(5);
    for (double& v : x) v = normal(random);
    x[static_cast<std::size_t>(i % 3)] += 2;
    data.append(dense_row(x.data(), 5), i % 3);
  }
  const Options s = soft("hinge", 1e-4, 1e-6);
  const Problem p = make_problem(data, s);
  std::vector<AscentSoFar> course;
  const Solution whole = ascend_while(p, s, Progress(), [&](const AscentSoFar& at) {
    course.push_back(at);
    return true;
  });
  const Solved plain = solve(data, s);
  EXPECT_EQ(whole.weights, plain.solution.weights);
  EXPECT_EQ(whole.status, Status::optimal);
  ASSERT_GT(course.size(), 10U);
  // The first output of which somebody says no is the last: the best of its weights, and nothing of the others.
  std::size_t told = 0;
  const Solution part = ascend_while(p, s, Progress(), [&](const AscentSoFar& at) {
    EXPECT_EQ(at.epochs, course[told].epochs);
    EXPECT_EQ(at.gap, course[told].gap);
    EXPECT_GT(at.size, 0);
    return ++told < 4;
  });
  EXPECT_EQ(told, 4U);
  EXPECT_EQ(part.status, Status::iteration_limit);
  EXPECT_EQ(part.iterations, std::ceil(course[3].epochs));
  EXPECT_GT(part.weights.row(0).norm(), 0);
  EXPECT_EQ(part.weights.bottomRows(2).norm(), 0);
  EXPECT_EQ(part.dual.rightCols(2).norm(), 0);
}

// What decides on an early first look: the dual value without a pass over the rows, and what an epoch is thought to leave.
TEST_P(SdcaLoss, KnowsItsDualValueWithoutTheRows) {
  const Table t = testing::labels_for(GetParam(), sample(29, 60, 4, classes(), false));
  const Dataset data = make_dataset(t, classes());
  for (const double ratio : {0.0, 0.3}) {
    Options s = soft(GetParam(), 1e-2, 1e-3);
    s.l1_ratio = ratio;
    const Problem p = make_problem(data, s);
    const Progress progress;
    margin::Run run(s, progress, "sdca", 10);
    SdcaState state(p, run);
    state.start_output(0);
    std::vector<std::int32_t> order = state.movable;
    Random random(1);
    visit(*p.loss, [&](const auto& loss) {
      for (int epoch = 0; epoch < 3; ++epoch) {
        run_epoch(loss, state, order, infinity, infinity, true, random, run, nullptr);
        const GapResult gap = measure_gap(loss, state, run, infinity, nullptr);
        EXPECT_NEAR(dual_value(loss, state, run), gap.dual, 1e-12 * gap.size());
      }
    });
  }
}

TEST(Sdca, AnEpochLeavesAsLargeAShareAsItMet) {
  EXPECT_EQ(gap_left(1e-3, 0), 2e-3) << "nothing is known";
  EXPECT_EQ(gap_left(1e-3, 4e-3), 2.5 * 0.25 * 1e-3);
  EXPECT_EQ(gap_left(1e-3, 1e-3), 2e-3) << "no progress";
  EXPECT_EQ(gap_left(1e-3, 1e9), 0.2 * 1e-3) << "a guess that was far off";
  EXPECT_EQ(gap_left(0, 1), 0);
}

// The tolerance is met by the first look, or soon after: early looks do not fail so often that they cost more than they save.
TEST(Sdca, LooksAsSoonAsItsGapIsNarrow) {
  for (const char* loss : {"logistic", "squared_hinge"}) {
    const Dataset data = make_dataset(sample(31, 2000, 10, true, true), true);
    Options s = soft(loss, 1e-2, 1e-3);
    const Solved plain = solve(data, s);
    s.max_iterations = plain.solution.iterations - 1;
    EXPECT_EQ(plain.solution.status, Status::optimal);
    EXPECT_NE(solve(data, s).solution.status, Status::optimal) << loss << ": an epoch less would have done";
  }
}

INSTANTIATE_TEST_SUITE_P(All, SdcaLoss,
                         ::testing::ValuesIn(std::vector<std::string>(loss_names().begin(), loss_names().end())),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace margin
