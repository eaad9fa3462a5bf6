// The solvers sdca and sgd on problems with known answers, odd data, limits and interrupts.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <stdexcept>

#include "core/base/error.hpp"
#include "core/certificate/certificate.hpp"
#include "core/solvers/solver.hpp"
#include "label_of.hpp"
#include "risk_problems.hpp"

namespace margin {

extern const Solver& sdca;
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
  s.max_iterations = 200000;
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

Table gaussian(std::uint64_t seed, int n, int d, double noise) {
  Random random(seed);
  Table t;
  for (int i = 0; i < n; ++i) {
    std::vector<double> x;
    for (int j = 0; j < d; ++j) x.push_back(normal(random));
    t.y.push_back(x[0] + (d > 1 ? 0.5 * x[1] : 0.0) + noise * normal(random));
    t.x.push_back(x);
  }
  return t;
}

Table signs(Table t) {
  for (double& y : t.y) y = y > 0 ? 1 : 0;
  t.y[0] = 0;
  t.y[1] = 1;
  return t;
}

TEST(Sdca, RidgeSolvesTheNormalEquations) {
  Table t = gaussian(1, 60, 4, 0.3);
  Random random(2);
  for (int i = 0; i < 60; ++i) t.weight.push_back(random.uniform());
  Options s = soft("squared", 0.07, 1e-12);
  s.intercept_scale = 2;
  const Solved r = solve(make_dataset(t, false), s);
  ASSERT_EQ(r.solution.status, Status::optimal);
  Eigen::MatrixXd a = 0.07 * Eigen::MatrixXd::Identity(5, 5);
  Eigen::VectorXd b = Eigen::VectorXd::Zero(5);
  double total = 0, mean = 0;
  for (const double c : t.weight) total += c;
  for (std::size_t i = 0; i < 60; ++i) mean += t.weight[i] / total * t.y[i];
  for (std::size_t i = 0; i < 60; ++i) {
    Eigen::VectorXd x(5);
    for (std::size_t j = 0; j < 4; ++j) x[static_cast<Eigen::Index>(j)] = t.x[i][j];
    x[4] = 2;
    a += 2 * t.weight[i] / total * x * x.transpose();
    b += 2 * t.weight[i] / total * (t.y[i] - mean) * x;  // targets are centred, and so is the solver's intercept
  }
  const Eigen::VectorXd w = a.ldlt().solve(b);
  for (int j = 0; j < 4; ++j) EXPECT_NEAR(r.solution.weights(0, j), w[j], 1e-5);
  EXPECT_NEAR(r.solution.intercept[0], 2 * w[4], 1e-5);
}

TEST(Sdca, SmallLambdaTendsToTheHardMargin) {
  Table t;
  t.x = {{3, 1}, {1, 3}, {4, 4}, {-1, -3}, {-3, -1}, {-9, 2}};
  t.y = {1, 1, 1, 0, 0, 0};
  Options s = soft("hinge", 1e-5, 1e-9);
  s.intercept = false;
  const Solved r = solve(make_dataset(t, true), s);
  ASSERT_EQ(r.solution.status, Status::optimal);
  // (1, 1)/√2 separates with margin 2√2 = 4/√2, attained at four rows.
  EXPECT_NEAR(1 / r.solution.weights.norm(), 2 * std::sqrt(2.0), 1e-4);
  EXPECT_NEAR(r.solution.weights(0, 0), r.solution.weights(0, 1), 1e-4);
}

TEST(Sdca, OneAgainstTheRestIsABinaryProblemPerClass) {
  Random random(4);
  const Table t = make_table(random, 0, true, 4);
  for (const char* loss : {"hinge", "logistic"}) {
    const Options s = soft(loss, 0.05, 1e-8);
    const Solved all = solve(make_dataset(t, true, 4), s);
    EXPECT_EQ(all.solution.status, Status::optimal);
    EXPECT_LE(all.certificate.relative_gap, 1e-8 * 1.001);
    double primal = 0;
    for (int c = 0; c < 4; ++c) {
      Table one = t;
      for (double& y : one.y) y = y == c ? 1 : 0;
      const Solved r = solve(make_dataset(one, true), s);
      primal += r.certificate.upper;
      EXPECT_LE((r.solution.weights.row(0) - all.solution.weights.row(c)).norm(), 1e-2);
    }
    EXPECT_NEAR(primal, all.certificate.upper, 2e-8 * primal);
  }
}

TEST(Sdca, ElasticNetSetsWeightsToZero) {
  const Table t = gaussian(6, 300, 12, 0.2);  // two columns matter
  Options s = soft("squared", 0.2, 1e-10);
  s.l1_ratio = 0.9;
  const Solved r = solve(make_dataset(t, false), s);
  ASSERT_EQ(r.solution.status, Status::optimal);
  double mean = 0;
  for (const double y : t.y) mean += y / 300;
  int zeros = 0;
  for (int j = 2; j < 12; ++j) zeros += r.solution.weights(0, j) == 0;
  EXPECT_GE(zeros, 8);
  EXPECT_GT(r.solution.weights(0, 0), 0.5);
  // Optimality of every column: −∇ of the mean loss lies in the subdifferential of the penalty.
  for (int j = 0; j < 12; ++j) {
    double gradient = 0;
    for (std::size_t i = 0; i < 300; ++i) {
      double u = r.solution.intercept[0] + mean;
      for (int k = 0; k < 12; ++k) u += r.solution.weights(0, k) * t.x[i][static_cast<std::size_t>(k)];
      gradient += 2 * (u - t.y[i]) * t.x[i][static_cast<std::size_t>(j)] / 300;
    }
    const double w = r.solution.weights(0, j);
    if (w == 0)
      EXPECT_LE(std::fabs(gradient), 0.2 * 0.9 + 1e-4);
    else
      EXPECT_NEAR(gradient + 0.2 * 0.1 * w + std::copysign(0.2 * 0.9, w), 0, 1e-4);
  }
}

TEST(Sdca, SparseAndWideRowsAreTheSameRows) {
  const Table t = signs(gaussian(8, 100, 40, 0.5));
  Dataset dense(Dataset::Outcome::classes), sparse(Dataset::Outcome::classes);
  for (Dataset* data : {&dense, &sparse}) {
    data->classes().intern("0", 0);
    data->classes().intern("1", 1);
  }
  for (std::size_t i = 0; i < 100; ++i) {
    std::vector<double> x = t.x[i];
    std::vector<std::int32_t> index;
    std::vector<double> value;
    for (std::size_t j = 0; j < x.size(); ++j) {
      if ((i + j) % 3 == 0) x[j] = 0;
      if (x[j] == 0) continue;
      index.push_back(static_cast<std::int32_t>(j));
      value.push_back(x[j]);
    }
    dense.append(dense_row(x.data(), 40), testing::label_of(dense, t.y[i]));
    sparse.append(sparse_row(index.data(), value.data(), static_cast<std::int32_t>(index.size()), 40),
                  testing::label_of(dense, t.y[i]));
  }
  for (const double l1 : {0.0, 0.2}) {
    Options s = soft("hinge", 0.01, 1e-9);
    s.l1_ratio = l1;
    const Solved a = solve(dense, s), b = solve(sparse, s);
    EXPECT_EQ(b.solution.status, Status::optimal);
    EXPECT_NEAR(a.certificate.upper, b.certificate.upper, 2e-9 * a.certificate.upper);
    EXPECT_LE((a.solution.weights - b.solution.weights).norm(), 1e-3);
  }
}

TEST(Sdca, RowsOfZerosAreSolvedAtOnce) {
  for (const std::string_view name : loss_names()) {
    const std::string loss(name);
    const bool classes = !is_regression_loss(loss);
    Table t;
    t.x.assign(5, {0, 0});
    t.y = classes ? std::vector<double>{0, 1, 1, 0, 1} : std::vector<double>{0, 3, -1, 0.01, 2};
    t = testing::labels_for(loss, std::move(t));
    Options s = soft(loss, 0.1, 1e-12);
    s.intercept = false;
    const Solved r = solve(make_dataset(t, classes), s);
    EXPECT_EQ(r.solution.status, Status::optimal) << loss;
    EXPECT_EQ(r.solution.weights.norm(), 0) << loss;
    EXPECT_LE(r.certificate.relative_gap, 1e-12) << loss;
    s.intercept = true;
    s.tolerance = 1e-6;
    EXPECT_EQ(solve(make_dataset(t, classes), s).solution.status, Status::optimal) << loss;
  }
}

TEST(Sdca, ContradictoryRowsCancel) {
  Table t;
  t.x = {{1, 2}, {1, 2}};
  t.y = {0, 1};
  Options s = soft("hinge", 0.01, 1e-9);
  s.intercept = false;
  const Solved r = solve(make_dataset(t, true), s);
  EXPECT_EQ(r.solution.status, Status::optimal);
  EXPECT_NEAR(r.certificate.upper, 1, 1e-8);
  EXPECT_LE(r.solution.weights.norm(), 1e-3);
}

TEST(Sdca, ValuesFarFromOneStayHonest) {
  for (const double size : {1e-150, 1e-30, 1e30, 1e150}) {
    Table t = signs(gaussian(10, 30, 3, 0.5));
    for (auto& x : t.x)
      for (double& v : x) v *= size;
    for (const char* loss : {"hinge", "logistic", "squared_hinge"}) {
      Options s = soft(loss, 0.1, 1e-3);
      s.max_iterations = 200;
      const Solved r = solve(make_dataset(t, true), s);
      EXPECT_TRUE(std::isfinite(r.certificate.upper)) << size << loss;
      EXPECT_GE(r.certificate.lower, 0) << size << loss;
      EXPECT_LE(r.certificate.upper, 1.001) << "no worse than no weights at all, " << size << loss;
    }
  }
}

TEST(Sdca, LimitsEndASolveHonestly) {
  const Dataset data = make_dataset(signs(gaussian(12, 2000, 20, 2)), true);
  Options s = soft("hinge", 1e-6, 1e-12);
  s.max_iterations = 1;
  const Solved one = solve(data, s);
  EXPECT_EQ(one.solution.status, Status::iteration_limit);
  EXPECT_EQ(one.solution.iterations, 1);
  EXPECT_GT(one.certificate.relative_gap, 1e-12);
  s.max_iterations = 1000000000;
  s.max_seconds = 0.05;
  const Solved late = solve(data, s);
  EXPECT_EQ(late.solution.status, Status::time_limit);
  EXPECT_GT(late.certificate.lower, 0);
}

struct Cancel : Progress {
  void poll() const override {
    if (++polls == at) throw std::runtime_error("cancelled");
  }
  void report(std::string_view, const TracePoint& point) const override { points.push_back(point); }
  mutable std::int64_t polls = 0;
  std::int64_t at = -1;
  mutable std::vector<TracePoint> points;
};

TEST(Sdca, PollsOftenEnough) {
  const int n = 3000, d = 50;
  const Dataset data = make_dataset(signs(gaussian(14, n, d, 2)), true);
  for (const Solver* solver : {&sdca, &sgd}) {
    Options s = soft("logistic", 1e-5, 1e-14);
    s.max_iterations = 200;
    const Problem p = make_problem(data, s);
    Cancel count;
    const Solution r = solver->solve(p, s, count);
    // A visit is at least 2 d multiply-adds; a millisecond is about 2^20 of them.
    EXPECT_GE(count.polls, r.iterations * n * 2 * d / (1 << 20)) << solver->name();
    Cancel stop;
    stop.at = 5;
    EXPECT_THROW(solver->solve(p, s, stop), std::runtime_error);
    EXPECT_EQ(stop.polls, 5);
  }
}

TEST(Sdca, HistoryIsAnIntervalThatCloses) {
  Random random(16);
  const Dataset data = make_dataset(make_table(random, 0, true, 3), true, 3);
  Options s = soft("hinge", 0.003, 1e-6);
  s.history = true;
  const Problem p = make_problem(data, s);
  Progress progress;
  const Solution r = sdca.solve(p, s, progress);
  ASSERT_FALSE(r.trace.empty());
  for (const TracePoint& point : r.trace) EXPECT_LE(point.lower, point.upper * (1 + 1e-12));
  EXPECT_LE(r.trace.back().upper - r.trace.back().lower, 1e-6 * r.trace.back().upper);
}

TEST(Sdca, HistoryHasAPointPerEpochAndChangesNothing) {
  const Dataset data = make_dataset(signs(gaussian(21, 400, 20, 1)), true);
  for (const Solver* solver : {&sdca, &sgd}) {
    for (const Output output : {Output::last, Output::average}) {
      for (const Order order : {Order::permutation, Order::random, Order::cyclic}) {
        if (solver == &sgd && (output != Output::last || order != Order::permutation)) continue;
        Options s = soft("smoothed_hinge", 1e-4, 1e-9);
        s.max_iterations = 37;
        s.order = order;
        s.output = output;
        const Solved without = solve(data, s, *solver);
        s.history = true;
        const Solved with = solve(data, s, *solver);
        EXPECT_EQ(with.solution.weights, without.solution.weights) << solver->name();
        EXPECT_EQ(with.solution.dual, without.solution.dual) << solver->name();
        EXPECT_EQ(with.solution.iterations, without.solution.iterations) << solver->name();
        const std::vector<TracePoint>& trace = with.solution.trace;
        ASSERT_FALSE(trace.empty());
        for (std::size_t k = 1; k < trace.size(); ++k)
          EXPECT_LE(trace[k].iteration - trace[k - 1].iteration, 2) << solver->name() << " after " << k;
        EXPECT_EQ(trace.back().iteration, with.solution.iterations);
        // The last point is what was returned.
        EXPECT_NEAR(trace.back().upper, with.certificate.upper, 1e-9);
        EXPECT_NEAR(trace.back().lower, with.certificate.lower, 1e-9);
      }
    }
  }
}

TEST(Sdca, APathOfWarmStartsIsCheap) {
  const Dataset data = make_dataset(signs(gaussian(18, 2000, 30, 1)), true);
  for (const char* loss : {"hinge", "logistic", "squared_hinge"}) {
    Options s = soft(loss, 1, 1e-3);
    std::int64_t path = 0;
    double lambda = 1e-1;
    for (int k = 0; k < 10; ++k, lambda /= 2) {
      s.lambda = lambda;
      const Solved r = solve(data, s);
      EXPECT_EQ(r.solution.status, Status::optimal);
      path += r.solution.iterations;
      InitialModel model;
      model.weights.assign(r.solution.weights.data(), r.solution.weights.data() + r.solution.weights.size());
      model.intercept = {r.solution.intercept[0]};
      model.dual_weights.assign(r.solution.dual.data(), r.solution.dual.data() + r.solution.dual.size());
      s.initial = model;
    }
    s.initial.reset();
    const Solved cold = solve(data, s);
    EXPECT_LE(path, 3 * cold.solution.iterations) << loss;
  }
}

TEST(Sdca, RefusesWhatItCannotDo) {
  const Dataset data = make_dataset(signs(gaussian(20, 10, 2, 1)), true);
  const Problem hard = make_problem(data, Options{});
  EXPECT_FALSE(sdca.unsupported_reason(hard).empty());
  EXPECT_FALSE(sgd.unsupported_reason(hard).empty());
  Options s = soft("hinge", 0.1, 1e-3);
  s.l1_ratio = 0.5;
  const Problem elastic = make_problem(data, s);
  EXPECT_TRUE(sdca.unsupported_reason(elastic).empty());
  EXPECT_FALSE(sgd.unsupported_reason(elastic).empty());
  EXPECT_GT(sdca.workspace(elastic), 0);
}

}  // namespace
}  // namespace margin
