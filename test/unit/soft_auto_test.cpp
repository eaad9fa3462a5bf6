// What `auto` runs for a soft margin, and that handing over loses nothing.
#include <gtest/gtest.h>

#include <cmath>

#include "core/certificate/certificate.hpp"
#include "core/solvers/solver.hpp"
#include "core/train/train.hpp"
#include "risk_problems.hpp"

namespace margin {

extern const Solver& sdca;

namespace {

using testing::normal;

/// n × d Gaussian rows with noisy labels: easy for large λn, ill-conditioned for small.
Dataset gaussian(int n, int d) {
  Random random(3);
  Dataset data(Dataset::Outcome::classes);
  for (int c = 0; c < 2; ++c) data.classes().intern(std::to_string(c), c);
  for (int i = 0; i < n; ++i) {
    std::vector<float> x(static_cast<std::size_t>(d));
    double score = 0.5 * normal(random);
    for (float& v : x) {
      v = static_cast<float>(normal(random));
      score += v / std::sqrt(d);
    }
    data.append(dense_row(x.data(), d), i < 2 ? i : score > 0);
  }
  return data;
}

Options soft(double lambda, double tolerance, const std::string& loss = "hinge") {
  Options s;
  s.loss = loss;
  s.lambda = lambda;
  s.tolerance = tolerance;
  return s;
}

struct Solved {
  Solution solution;
  Certificate certificate;
};
Solved solve(const Dataset& data, const Options& s) {
  const Problem p = make_problem(data, s);
  Progress progress;
  Solved r{choose_solver(p, s).solve(p, s, progress), {}};
  r.certificate = certify(p, r.solution.weights, r.solution.intercept, r.solution.dual);
  return r;
}

TEST(SoftAuto, ChoosesByConditionAndCost) {
  const Dataset data = gaussian(4000, 30);
  EXPECT_EQ(solve(data, soft(1.0, 1e-3)).solution.solver, "sdca");
  EXPECT_EQ(solve(data, soft(1e-7, 1e-6)).solution.solver, "newton");
  EXPECT_EQ(solve(data, soft(1e-7, 1e-6, "logistic")).solution.solver, "newton");
  for (const double lambda : {1.0, 1e-2, 1e-4, 1e-7})
    for (const std::string loss : {"hinge", "logistic", "squared_hinge", "smoothed_hinge"}) {
      const Solved r = solve(data, soft(lambda, 1e-6, loss));
      EXPECT_EQ(r.solution.status, Status::optimal) << loss << lambda;
      EXPECT_LE(r.certificate.relative_gap, 1e-6) << loss << lambda;
    }
}

TEST(SoftAuto, DoesNotWaitForSdcaWhereBoundsHoldWeights) {
  // A smooth loss has little left to do where most weights are at their ends.
  const Dataset data = gaussian(4000, 30);
  for (const double lambda : {1e-2, 6e-3, 1e-3, 1e-4, 1e-5}) {
    Options s = soft(lambda, 1e-3, "squared_hinge");
    s.named_bounds["*"] = {-0.01, 0.01};
    const Solved r = solve(data, s);
    EXPECT_EQ(r.solution.solver, "newton") << lambda;
    EXPECT_EQ(r.solution.status, Status::optimal) << lambda;
  }
}

TEST(SoftAuto, LooksOnceAtVeryManyRowsFromTheSolutionOfASample) {
  // Enough for a sample of the sample: what is open after it is a few of a hundred rows, which one round settles.
  const Dataset data = gaussian(530'000, 2);
  const Solved r = solve(data, soft(1e-4, 1e-3));
  EXPECT_EQ(r.solution.solver, "newton");
  EXPECT_EQ(r.solution.status, Status::optimal);
  EXPECT_LE(r.solution.iterations, 12);
  EXPECT_LE(r.certificate.relative_gap, 1e-3);
}

TEST(SoftAuto, TriesSdcaBeforeALongNewton) {
  // Separable: w stays bounded as lambda falls, and so do the epochs, which the condition number does not see.
  const Dataset data = gaussian(500, 1000);
  for (const double lambda : {1e-4, 1e-6}) {
    const Solved r = solve(data, soft(lambda, 1e-3));
    EXPECT_EQ(r.solution.solver, "sdca") << lambda;
    EXPECT_LE(r.certificate.relative_gap, 1e-3);
  }
}

TEST(SoftAuto, TriesSdcaWhereSizesSayLittle) {
  // Far from their labels all residuals are where huber is linear: two epochs, of which the expectation is thousands.
  Random random(19);
  Dataset data(Dataset::Outcome::targets);
  for (int i = 0; i < 5000; ++i) {
    std::vector<double> x(9);
    for (double& v : x) v = normal(random);
    data.append(dense_row(x.data(), 9), 1e5 * (3 + x[0] + 0.3 * normal(random)));
  }
  for (const double tolerance : {1e-3, 1e-6}) {
    Options s = soft(1e-5, tolerance, "huber");
    s.intercept_form = InterceptForm::penalized;
    const Solved r = solve(data, s);
    EXPECT_EQ(r.solution.solver, "sdca");
    EXPECT_EQ(r.solution.status, Status::optimal);
    EXPECT_LE(r.solution.iterations, 8);
    EXPECT_LE(r.certificate.relative_gap, tolerance);
  }
}

TEST(SoftAuto, GivesUpATrialAfterTwoEpochs) {
  // Noise: the gap stays where it is, and newton would have been the better choice from the start.
  Random random(20);
  Dataset data(Dataset::Outcome::classes);
  for (int c = 0; c < 3; ++c) data.classes().intern(std::to_string(c), c);
  for (int i = 0; i < 3000; ++i) {
    std::vector<double> x(20);
    for (double& v : x) v = normal(random);
    data.append(dense_row(x.data(), 20), i < 3 ? i : static_cast<int>(random.below(3)));
  }
  const Problem p = make_problem(data, soft(1e-4, 1e-3));
  Options s = soft(1e-4, 1e-3);
  const Solved r = solve(data, s);
  s.solver = "newton";
  const Solution newton = choose_solver(p, s).solve(p, s, Progress());
  EXPECT_EQ(r.solution.solver, "sdca+newton");
  EXPECT_EQ(r.solution.status, Status::optimal);
  EXPECT_LE(r.solution.iterations, 1.3 * static_cast<double>(newton.iterations) + 4);
  EXPECT_LE(r.certificate.relative_gap, 1e-3);
}

TEST(SoftAuto, LeavesToSdcaWhatOnlySdcaDoes) {
  const Dataset data = gaussian(500, 10);
  Options net = soft(1e-4, 1e-3);
  net.l1_ratio = 0.5;
  EXPECT_EQ(solve(data, net).solution.solver, "sdca+interior_point");
  net.workspace_limit = 1000;
  EXPECT_EQ(solve(data, net).solution.solver, "sdca");
  Options ordered = soft(1e-4, 1e-2);
  ordered.order = Order::random;
  EXPECT_EQ(solve(data, ordered).solution.solver, "sdca");
  Options small = soft(1e-6, 1e-1);
  small.workspace_limit = 1000;
  EXPECT_EQ(solve(data, small).solution.solver, "sdca");
}

/// Where no row curves, the best free intercept must follow the line search.
TEST(SoftAuto, SolvesTinyProblemsOfTheSmoothedHinge) {
  Random random(7);
  const auto expect_optimal = [&](const testing::Table& t, double lambda, double smoothing) {
    const Dataset data = testing::make_dataset(t, true);
    for (const char* const solver : {"auto", "newton", "newton_cg", "kernel_newton"}) {
      Options s = soft(lambda, 1e-3, "smoothed_hinge");
      s.intercept_form = InterceptForm::free;
      s.smoothing = smoothing;
      s.solver = solver;
      if (std::string(solver) == "kernel_newton") s.kernel = "linear";
      const Model model = train(data, s, Progress());
      EXPECT_EQ(model.status, Status::optimal) << solver << " " << lambda << " rows " << t.rows();
      EXPECT_LT(*model.iterations, 200) << solver << " " << lambda;
    }
  };
  expect_optimal({{{-1, 2, -1}, {0, -2, -3}}, {1, 0}, {}}, 1.398e-4, 1);
  for (int k = 0; k < 250; ++k) {
    testing::Table t;
    const int n = 2 + static_cast<int>(random.below(10)), d = 1 + static_cast<int>(random.below(4));
    for (int i = 0; i < n; ++i) {
      t.x.emplace_back();
      for (int j = 0; j < d; ++j)
        t.x.back().push_back(k % 2 == 0 ? normal(random) : static_cast<double>(random.below(7)) - 3);
      t.y.push_back(i < 2 ? i : t.x.back()[0] + normal(random) > 0 ? 1 : 0);
    }
    expect_optimal(t, std::pow(10, -6 * random.uniform()), k % 3 == 0 ? 0.1 : 1);
  }
}

TEST(SoftAuto, SolvesAnL1NormWithPiecewiseLinearLosses) {
  Random random(23);
  for (const char* const loss : {"hinge", "absolute", "epsilon_insensitive", "quantile"})
    for (int k = 0; k < 60; ++k) {
      const bool classes = !is_regression_loss(loss);
      testing::Table t = testing::make_table(random, k % 8, classes);
      if (k % 3 == 0)
        for (int i = 0; i < t.rows(); ++i) t.weight.push_back(0.2 + 3 * random.uniform());
      Options s = soft(std::pow(10, -6 * random.uniform()), 1e-3, loss);
      s.l1_ratio = k % 2 == 0 ? 0.5 : 0.9;
      s.intercept = k % 5 != 0;
      s.intercept_form = k % 5 == 1 ? InterceptForm::free : InterceptForm::by_default;
      const Model model = train(testing::make_dataset(t, classes), s, Progress());
      EXPECT_EQ(model.status, Status::optimal)
          << loss << " " << k << " " << *s.lambda << " [" << model.certificate.lower << ", " << model.certificate.upper
          << "] " << model.solver;
    }
}

/// Labels a hundred thousand times as far apart as huber smooths: prox_newton left 12 of 150 such problems unsolved.
TEST(SoftAuto, SolvesAnL1NormWithLabelsFarBeyondTheSmoothing) {
  Random random(100);
  for (int k = 0; k < 150; ++k) {
    testing::Table t = testing::make_table(random, k % 8, false);
    for (double& y : t.y) y *= 1e5;
    Options s = soft(std::pow(10, -6 * random.uniform()), 1e-3, "huber");
    s.l1_ratio = k % 4 == 0 ? 1 : k % 4 == 1 ? 0.5 : k % 4 == 2 ? 0.9 : 0.1;
    s.intercept = k % 5 != 0;
    if (s.intercept && (s.l1_ratio == 1 || k % 5 == 1)) s.intercept_form = InterceptForm::free;
    const Model model = train(testing::make_dataset(t, false), s, Progress());
    EXPECT_EQ(model.status, Status::optimal) << k << " " << *s.lambda << " [" << model.certificate.lower << ", "
                                             << model.certificate.upper << "] " << model.solver;
  }
}

TEST(SoftAuto, HandsOverWhereTheExpectationWasWrong) {
  // Rows of one direction but for a little: the mean of ‖x‖²/(λn) is small, yet coordinate ascent crawls.
  Random random(5);
  Dataset data(Dataset::Outcome::classes);
  for (int c = 0; c < 2; ++c) data.classes().intern(std::to_string(c), c);
  for (int i = 0; i < 600; ++i) {
    std::vector<double> x(200);
    for (double& v : x) v = 0.05 * normal(random);
    x[0] += 1;
    const double side = x[1] + x[2] + 0.01 * normal(random);
    data.append(dense_row(x.data(), 200), i < 2 ? i : side > 0);
  }
  Options s = soft(0.2 / 600, 1e-9);
  s.history = true;
  const Solved r = solve(data, s);
  EXPECT_EQ(r.solution.solver.rfind("sdca+newton", 0), 0U) << r.solution.solver;
  EXPECT_EQ(r.solution.status, Status::optimal);
  EXPECT_LE(r.certificate.relative_gap, 1e-9);
  ASSERT_GE(r.solution.trace.size(), 2U);
  for (std::size_t k = 1; k < r.solution.trace.size(); ++k) {
    EXPECT_GE(r.solution.trace[k].iteration, r.solution.trace[k - 1].iteration);
    EXPECT_GE(r.solution.trace[k].seconds, r.solution.trace[k - 1].seconds);
  }
  s.history = false;
  EXPECT_TRUE(solve(data, s).solution.trace.empty());
  // The limit counts the iterations of both.
  for (const std::int64_t limit : {1, 20, static_cast<int>(r.solution.iterations) - 1}) {
    s.max_iterations = limit;
    const Solved stopped = solve(data, s);
    EXPECT_LE(stopped.solution.iterations, limit + 2);
    EXPECT_EQ(stopped.solution.status == Status::optimal, stopped.certificate.relative_gap <= 1e-9) << limit;
  }
}

/// Counts what the progress is told: about the work done, whatever the machine.
struct Counting : Progress {
  mutable long polls = 0;
  void poll() const override { ++polls; }
};

TEST(SoftAuto, ALooserToleranceNeverTakesLonger) {
  // Correlated columns, on which coordinate ascent slows down: what is asked must not delay the change to newton.
  Random random(7);
  Dataset data(Dataset::Outcome::classes);
  for (int c = 0; c < 2; ++c) data.classes().intern(std::to_string(c), c);
  for (int i = 0; i < 3000; ++i) {
    std::vector<float> x(150);
    const double common = normal(random);
    double score = normal(random);
    for (float& v : x) {
      v = static_cast<float>(2 + common + 0.3 * normal(random));
      score += 0.3 * (v - 2 - common);
    }
    data.append(dense_row(x.data(), 150), i < 2 ? i : score > 0);
  }
  for (const std::string loss : {"squared_hinge", "hinge", "logistic"})
    for (const double lambda : {1e-2, 1e-4}) {
      long tighter = -1;
      for (const double tolerance : {1e-6, 1e-4, 1e-3, 1e-2, 1e-1}) {
        const Options s = soft(lambda, tolerance, loss);
        const Problem p = make_problem(data, s);
        Counting progress;
        EXPECT_EQ(choose_solver(p, s).solve(p, s, progress).status, Status::optimal);
        if (tighter >= 0) {
          EXPECT_LE(progress.polls, 1.1 * tighter + 20) << loss << " " << lambda << " " << tolerance;
        }
        tighter = progress.polls;
      }
    }
}

TEST(SoftAuto, TakesConjugateGradientsToWideRowsOfUnscaledColumns) {
  Random random(9);
  Dataset data(Dataset::Outcome::classes);
  for (int c = 0; c < 5; ++c) data.classes().intern(std::to_string(c), c);
  for (int i = 0; i < 4000; ++i) {
    const double u = random.uniform();
    const std::int32_t word = static_cast<std::int32_t>(u * u * 7998), columns[] = {word, 7999};
    const double values[] = {1, std::round(50 + 5000 * random.uniform())};
    data.append(sparse_row(columns, values, 2, 8000), i < 5 ? i : word % 5);
  }
  for (const std::string loss : {"hinge", "logistic", "squared_hinge"}) {
    const Solved r = solve(data, soft(1e-3, 1e-3, loss));
    EXPECT_NE(r.solution.solver.find("newton_cg"), std::string::npos) << loss << " " << r.solution.solver;
    EXPECT_EQ(r.solution.status, Status::optimal) << loss;
    EXPECT_LE(r.certificate.relative_gap, 1e-3) << loss;
  }
}

}  // namespace
}  // namespace margin
