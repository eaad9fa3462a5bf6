// The solver newton: certified on every loss, shape and storage, hard cases, limits.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <stdexcept>

#include "core/base/error.hpp"
#include "label_of.hpp"
#include "newton_problems.hpp"

namespace margin {

extern const Solver& newton;
extern const Solver& sdca;

namespace {

using testing::make_table;
using testing::normal;
using testing::sample;
using testing::soft;
using testing::Solved;
using testing::Storage;
using testing::store;
using testing::Table;

Solved solve(const Dataset& data, const Options& s, const Solver& solver = newton) {
  return testing::solve_with(solver, data, s);
}

class NewtonLoss : public ::testing::TestWithParam<std::string> {
 protected:
  bool classes() const { return !is_regression_loss(GetParam()); }
};

TEST_P(NewtonLoss, ReachesTheToleranceOnRandomProblems) {
  // Every shape in every storage, with and without intercept, weights and at three tolerances; the interval must hold
  // the optimum that the test's own solver encloses.
  Random random(101);
  int enclosed = 0;
  const double tolerances[] = {1e-3, 1e-6, 1e-9};
  const int trials = make_loss(GetParam(), {})->log_link() ? 72 : 144;  // where the test's own solver is slow
  for (int trial = 0; trial < trials; ++trial) {
    Options s = soft(GetParam(), std::pow(10.0, 5 * random.uniform() - 3.5), tolerances[trial / 8 % 3]);
    s.intercept = trial % 4 < 2;
    s.intercept_scale = trial % 8 < 4 ? 1 : 2.5;
    Table t = testing::labels_for(GetParam(), make_table(random, trial % 8, classes()));
    if (trial % 5 == 0)
      for (int i = 0; i < t.rows(); ++i) t.weight.push_back(random.below(4) == 0 ? 0.0 : 2 * random.uniform());
    if (!t.weight.empty()) t.weight[0] = t.weight[1] = 1;
    const Dataset data = store(t, classes(), static_cast<Storage>(trial / 24 % 3));
    const Solved r = solve(data, s);
    EXPECT_EQ(r.solution.status, Status::optimal) << trial;
    EXPECT_LE(r.certificate.relative_gap, s.tolerance) << trial;

    const Problem p = make_problem(data, s);
    std::vector<double> y, c;
    for (std::int64_t i = 0; i < p.rows(); ++i) {
      y.push_back(p.target(i, 0));
      c.push_back(p.weight(i));
    }
    const testing::Reference reference = testing::solve_reference(t, y, c, p.total_weight, GetParam(), s, 5000);
    // The reference sums in plain doubles.
    EXPECT_LE(r.certificate.lower, reference.primal * (1 + 1e-14)) << trial;
    EXPECT_GE(r.certificate.upper, reference.dual * (1 - 1e-14)) << trial;
    enclosed += reference.primal - reference.dual <= 1e-6 * reference.primal;
  }
  EXPECT_GE(enclosed, trials * 2 / 3);
}

TEST_P(NewtonLoss, ManyRowsGoThroughSamplesAndRounds) {
  Table t = testing::labels_for(GetParam(), sample(11, 40000, 12, classes()));
  const Dataset data = store(t, classes(), Storage::floats);
  for (const double lambda : {1e-2, 1e-5, 1e-8})
    for (const double tolerance : {1e-3, 1e-9}) {
      Options s = soft(GetParam(), lambda, tolerance);
      s.history = true;
      const Solved r = solve(data, s);
      EXPECT_EQ(r.solution.status, Status::optimal) << lambda;
      EXPECT_LE(r.certificate.relative_gap, tolerance) << lambda;
      ASSERT_FALSE(r.solution.trace.empty());
      for (const TracePoint& point : r.solution.trace) {
        EXPECT_LE(point.lower, r.certificate.upper * (1 + 1e-12));
        EXPECT_GE(point.upper, r.certificate.lower * (1 - 1e-12));
      }
    }
}

TEST_P(NewtonLoss, AgreesWithCoordinateAscent) {
  Table t = testing::labels_for(GetParam(), sample(13, 600, 6, classes()));
  const Dataset data = store(t, classes(), Storage::doubles);
  const Options s = soft(GetParam(), 0.01, 1e-6);
  const Solved a = solve(data, s), b = solve(data, s, sdca);
  EXPECT_EQ(b.solution.status, Status::optimal);
  EXPECT_LE(a.certificate.lower, b.certificate.upper);
  EXPECT_LE(b.certificate.lower, a.certificate.upper);
  EXPECT_NEAR(a.certificate.upper, b.certificate.upper, 1e-6 * b.certificate.upper);
}

TEST_P(NewtonLoss, StorageDoesNotMatter) {
  Table t = testing::labels_for(GetParam(), sample(17, 300, 10, classes()));
  const Dataset narrow = store(t, classes(), Storage::floats), thin = store(t, classes(), Storage::sparse);
  const Options s = soft(GetParam(), 1e-3, 1e-9);
  const Solved a = solve(narrow, s), b = solve(thin, s);
  EXPECT_NEAR(a.certificate.upper, b.certificate.upper, 2e-9 * a.certificate.upper);
  EXPECT_LE((a.solution.weights - b.solution.weights).norm(), 2e-3 * a.solution.weights.norm());
}

TEST_P(NewtonLoss, FewerRowsThanFeatures) {
  for (const Storage storage : {Storage::floats, Storage::doubles, Storage::sparse})
    for (const bool twins : {false, true}) {
      Table t = testing::labels_for(GetParam(), sample(19, 40, 300, classes()));
      if (twins)
        for (std::size_t i = 2; i < 40; i += 3) t.x[i] = t.x[i - 1];  // K is singular
      const Dataset data = store(t, classes(), storage);
      for (const double lambda : {1.0, 1e-3}) {
        // On separable rows P is some λ‖w‖², and the certificate's bound on the rounding of 300 products in every score
        // is 3e-9 of that at the smaller λ.
        const double tolerance = lambda < 1 ? 1e-8 : 1e-9;
        Options s = soft(GetParam(), lambda, tolerance);
        s.intercept_scale = 2;
        const Solved r = solve(data, s);
        EXPECT_EQ(r.solution.status, Status::optimal) << lambda;
        EXPECT_LE(r.certificate.relative_gap, tolerance) << lambda;
      }
    }
}

TEST_P(NewtonLoss, ThinRowsOfManyFeatures) {
  Random random(23);
  Table t;
  for (int i = 0; i < 60; ++i) {
    std::vector<double> x(100000, 0.0);
    for (int k = 0; k < 50; ++k) x[random.below(100000)] = normal(random);
    x[7] = i % 2 == 0 ? 1 : -1;
    t.x.push_back(x);
    t.y.push_back(classes() ? i % 2 : normal(random));
  }
  t = testing::labels_for(GetParam(), std::move(t));
  const Dataset data = store(t, classes(), Storage::sparse);
  const Options s = soft(GetParam(), 0.1, 1e-6);
  EXPECT_LE(newton.workspace(make_problem(data, s)), 1e6);
  const Solved r = solve(data, s);
  EXPECT_EQ(r.solution.status, Status::optimal);
  EXPECT_LE(r.certificate.relative_gap, 1e-6);
}

TEST_P(NewtonLoss, HugeAndTinyLambda) {
  Table t = testing::labels_for(GetParam(), sample(5, 200, 3, classes()));
  const Dataset data = store(t, classes(), Storage::doubles);
  for (const double lambda : {1e6, 1e12}) {
    const Solved r = solve(data, soft(GetParam(), lambda, 1e-9));
    EXPECT_EQ(r.solution.status, Status::optimal) << lambda;
    EXPECT_LE(r.solution.weights.norm(), 50 / lambda);
  }
  for (const double lambda : {1e-9, 1e-12}) {
    const Solved r = solve(data, soft(GetParam(), lambda, 1e-3));
    EXPECT_EQ(r.solution.status, Status::optimal) << lambda;
    EXPECT_LE(r.certificate.relative_gap, 1e-3) << lambda;
  }
}

TEST_P(NewtonLoss, UnscaledColumns) {
  Table t = testing::labels_for(GetParam(), sample(29, 3000, 6, classes()));
  for (auto& x : t.x) {
    x[0] *= 1e4;
    x[1] *= 1e-3;
    x[2] += 1e3;  // far from the origin: the columns are nearly dependent on the intercept's
  }
  const Dataset data = store(t, classes(), Storage::doubles);
  const Solved r = solve(data, soft(GetParam(), 1e-6, 1e-6));
  EXPECT_EQ(r.solution.status, Status::optimal);
  EXPECT_LE(r.certificate.relative_gap, 1e-6);
}

TEST_P(NewtonLoss, ExtremeUnits) {
  // Rows × 1e±60: λ × 1e±120 is the same problem.
  for (const double unit : {1e-60, 1e60}) {
    Table t = testing::labels_for(GetParam(), sample(31, 100, 3, classes()));
    for (auto& x : t.x)
      for (double& v : x) v *= unit;
    Options s = soft(GetParam(), 0.01 * unit * unit, 1e-6);
    s.intercept = false;
    const Solved r = solve(store(t, classes(), Storage::doubles), s);
    EXPECT_EQ(r.solution.status, Status::optimal) << unit;
    EXPECT_LE(r.certificate.relative_gap, 1e-6) << unit;
  }
}

TEST_P(NewtonLoss, RareClassOfThinBinaryRows) {
  // Many equal rows, most of them far on one side: a sample says little about the kinks of the rest.
  Random random(83);
  Dataset data(classes() ? Dataset::Outcome::classes : Dataset::Outcome::targets);
  for (int c = 0; classes() && c < 2; ++c) data.classes().intern(std::to_string(c), c);
  std::vector<double> w(200);
  for (double& v : w) v = 1.5 * normal(random);
  for (int i = 0; i < 40000; ++i) {
    std::vector<std::int32_t> columns;
    double score = -8 + 0.2 * normal(random);
    for (std::int32_t j = 0; j < 200; ++j)
      if (random.below(static_cast<std::uint64_t>(8 + j)) == 0) {
        columns.push_back(j);
        score += w[static_cast<std::size_t>(j)];
      }
    const std::vector<double> ones(columns.size(), 1.0);
    data.append(sparse_row(columns.data(), ones.data(), static_cast<std::int32_t>(columns.size()), 200),
                testing::label_of(data, !classes() ? (GetParam() == "poisson" ? std::fabs(score) : score)
                                                   : (score > 0 || i == 0 ? 1.0 : 0.0)));
  }
  for (const double lambda : {1.0 / 40000, 0.01 / 40000, 1e-4 / 40000}) {
    const Solved r = solve(data, soft(GetParam(), lambda, 1e-6));
    EXPECT_EQ(r.solution.status, Status::optimal) << lambda;
    EXPECT_LE(r.certificate.relative_gap, 1e-6) << lambda;
    EXPECT_LE(r.solution.iterations, 600) << lambda;
  }
}

TEST_P(NewtonLoss, SameRowsSameBits) {
  Table t = testing::labels_for(GetParam(), sample(37, 5000, 5, classes()));
  const Dataset data = store(t, classes(), Storage::floats);
  const Options s = soft(GetParam(), 1e-4, 1e-6);
  const Solved a = solve(data, s), b = solve(data, s);
  EXPECT_EQ(a.solution.weights, b.solution.weights);
  EXPECT_EQ(a.solution.dual, b.solution.dual);
  EXPECT_EQ(a.solution.iterations, b.solution.iterations);
}

TEST_P(NewtonLoss, StartsFromAModel) {
  Table t = testing::labels_for(GetParam(), sample(41, 4000, 6, classes()));
  const Dataset data = store(t, classes(), Storage::floats);
  Options s = soft(GetParam(), 1e-4, 1e-6);
  const Solved cold = solve(data, s);
  s.initial = InitialModel{};
  s.initial->weights.assign(cold.solution.weights.data(), cold.solution.weights.data() + cold.solution.weights.size());
  s.initial->intercept = {cold.solution.intercept[0]};
  s.initial->dual_weights.assign(cold.solution.dual.data(), cold.solution.dual.data() + cold.solution.dual.size());
  const Solved warm = solve(data, s);
  EXPECT_EQ(warm.solution.status, Status::optimal);
  EXPECT_LE(warm.certificate.relative_gap, 1e-6);
  EXPECT_LE(warm.solution.iterations, 2);
  s.lambda = 2e-4;
  s.initial->dual_weights.clear();
  const Solved other = solve(data, s);
  EXPECT_EQ(other.solution.status, Status::optimal);
  EXPECT_LE(other.certificate.relative_gap, 1e-6);
}

TEST_P(NewtonLoss, LimitsLeaveAnHonestModel) {
  Table t = testing::labels_for(GetParam(), sample(43, 40000, 8, classes()));
  const Dataset data = store(t, classes(), Storage::floats);
  const double optimum = solve(data, soft(GetParam(), 1e-6, 1e-9)).certificate.upper;
  for (const std::int64_t limit : {1, 2, 5}) {
    Options s = soft(GetParam(), 1e-6, 1e-12);
    s.max_iterations = limit;
    const Solved r = solve(data, s);
    EXPECT_LE(r.solution.iterations, limit + 2);
    EXPECT_TRUE(std::isfinite(r.certificate.upper));
    EXPECT_LE(r.certificate.lower, optimum);
    EXPECT_GE(r.certificate.upper, optimum * (1 - 1e-8));
  }
}

struct Cancelled : std::exception {};

TEST_P(NewtonLoss, PollsAllTheTime) {
  struct Counting : Progress {
    mutable int calls = 0;
    int limit = 1 << 30;
    void poll() const override {
      if (++calls >= limit) throw Cancelled();
    }
  };
  Table t = testing::labels_for(GetParam(), sample(47, 20000, 150, classes()));
  const Dataset data = store(t, classes(), Storage::floats);
  const Options s = soft(GetParam(), 1e-4, 1e-6);
  const Problem p = make_problem(data, s);
  Counting counting;
  const Solution done = newton.solve(p, s, counting);
  // 20 000 × 150 multiply-adds per pass over all rows; most passes of a hinge see an eighth of them.
  EXPECT_GE(counting.calls, 3 * done.iterations);
  for (int k = 1; k < counting.calls; k *= 3) {
    Counting stopping;
    stopping.limit = k;
    EXPECT_THROW(newton.solve(p, s, stopping), Cancelled);
  }
}

INSTANTIATE_TEST_SUITE_P(All, NewtonLoss,
                         ::testing::ValuesIn(std::vector<std::string>(loss_names().begin(), loss_names().end())),
                         [](const auto& info) { return info.param; });

TEST(Newton, SquaredLossTakesOneStep) {
  Table t = sample(53, 500, 7, false);
  const Dataset data = store(t, false, Storage::doubles);
  const Solved r = solve(data, soft("squared", 1e-3, 1e-9));
  EXPECT_EQ(r.solution.iterations, 2);  // looks at 0, steps, looks again
  // The normal equations, solved in another way.
  Eigen::MatrixXd x(500, 8);
  Eigen::VectorXd y(500);
  for (int i = 0; i < 500; ++i) {
    for (int j = 0; j < 7; ++j) x(i, j) = t.x[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
    x(i, 7) = 1;
    y[i] = t.y[static_cast<std::size_t>(i)];
  }
  y.array() -= y.mean();  // targets are centred, and so is the solver's intercept
  const Eigen::MatrixXd normal_matrix = x.transpose() * x * (2.0 / 500) + 1e-3 * Eigen::MatrixXd::Identity(8, 8);
  const Eigen::VectorXd w = normal_matrix.ldlt().solve(x.transpose() * y * (2.0 / 500));
  EXPECT_LE((r.solution.weights.row(0).transpose() - w.head(7)).norm(), 1e-10);
  EXPECT_NEAR(r.solution.intercept[0], w[7], 1e-10);
}

TEST(Newton, OneAgainstTheRest) {
  for (const std::string loss : {"hinge", "logistic", "squared_hinge"}) {
    Table t = sample(59, 2000, 5, true, 4);
    const Dataset data = store(t, true, Storage::floats, 4);
    Options s = soft(loss, 1e-3, 1e-6);
    s.class_weight_balanced = true;
    s.history = true;
    const Solved r = solve(data, s);
    EXPECT_EQ(r.solution.weights.rows(), 4);
    EXPECT_EQ(r.solution.status, Status::optimal);
    EXPECT_LE(r.certificate.relative_gap, 1e-6);
    for (std::size_t k = 1; k < r.solution.trace.size(); ++k) {
      EXPECT_GE(r.solution.trace[k].lower, r.solution.trace[k - 1].lower);
      EXPECT_LE(r.solution.trace[k].upper, r.solution.trace[k - 1].upper);
    }
    // Fewer rows than features, several outputs.
    Table wide = sample(61, 30, 80, true, 3);
    const Solved w = solve(store(wide, true, Storage::floats, 3), s);
    EXPECT_LE(w.certificate.relative_gap, 1e-6);
  }
}

TEST(Newton, ConstantOutcomesAndEmptyRows) {
  for (const std::string loss :
       {"absolute", "epsilon_insensitive", "squared", "huber", "squared_epsilon_insensitive"}) {
    Table t = sample(67, 50, 3, false);
    for (double& y : t.y) y = 4;
    const Solved r = solve(store(t, false, Storage::doubles), soft(loss, 1e-3, 1e-6));
    EXPECT_LE(r.certificate.relative_gap, 1e-6) << loss;
    for (double& y : t.y) y = 0;
    const Solved zero = solve(store(t, false, Storage::doubles), soft(loss, 1e-3, 1e-6));
    EXPECT_EQ(zero.certificate.upper, 0) << loss;
    EXPECT_EQ(zero.solution.status, Status::optimal) << loss;
  }
  for (const std::string loss : {"hinge", "logistic", "smoothed_hinge", "squared_hinge"}) {
    Table t = sample(71, 50, 3, true);
    for (auto& x : t.x) std::fill(x.begin(), x.end(), 0.0);
    Options s = soft(loss, 1e-3, 1e-6);
    for (const bool intercept : {true, false}) {
      s.intercept = intercept;
      const Solved r = solve(store(t, true, Storage::doubles), s);
      EXPECT_LE(r.certificate.relative_gap, 1e-6) << loss;
    }
  }
}

TEST(Newton, SaysWhatItCannotDo) {
  Table t = sample(73, 50, 3, true);
  const Dataset data = store(t, true, Storage::doubles);
  Options s = soft("hinge", 1e-3, 1e-6);
  s.l1_ratio = 0.5;
  EXPECT_NE(newton.unsupported_reason(make_problem(data, s)).find("l1_ratio"), std::string::npos);
  Options hard;
  EXPECT_NE(newton.unsupported_reason(make_problem(data, hard)).find("\"hard margin\", expected \"soft margin\""),
            std::string::npos);
  s.l1_ratio = 0;
  Dataset large(Dataset::Outcome::classes);
  for (int c = 0; c < 2; ++c) large.classes().intern(std::to_string(c), c);
  for (std::int32_t i = 0; i < 5000; ++i) {
    const double one = 1;
    large.append(sparse_row(&i, &one, 1, 5000), i % 2);
  }
  EXPECT_NE(newton.unsupported_reason(make_problem(large, s)).find("5000 rows and 5000 features"), std::string::npos);
}

}  // namespace
}  // namespace margin
