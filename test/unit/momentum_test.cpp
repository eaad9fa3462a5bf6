// The first-order solvers against their theory: Theorem 3.1 (5.1 for several classes) of Ji, Srebro & Telgarsky (2021)
// at every iteration of the verbatim method, certificates at every iteration of the others, and their order.
#include <gtest/gtest.h>

#include "core/solvers/l2_margin/first_order.hpp"
#include "margin_problems.hpp"

namespace margin {
namespace {

using namespace reference;

/// Runs Algorithm 1 as printed and checks both inequalities of the theorem, in units where max ‖z‖ = 1.
void check_theorem(const Rows& rows, const Margin& known, int iterations) {
  const Options s = hard("momentum", false, 1e-3);
  const Dataset data = make_dataset(rows);
  const Problem problem = make_problem(data, s);
  Progress progress;
  Run run(s, progress, "momentum", iterations);
  FirstOrder method(problem, run, false);
  EXPECT_NEAR(method.z_scale() * static_cast<double>(rows.radius()) * (rows.classes > 2 ? std::sqrt(2.0) : 1.0), 1.0,
              1e-14);
  const double log_n = std::log(static_cast<double>(rows.count()) * (rows.classes - 1));
  const double least = static_cast<double>(known.lower) * method.z_scale();
  const double most = static_cast<double>(known.upper) * method.z_scale();
  for (int t = 0; t <= iterations; ++t) {
    method.pass();
    if (t >= 1) {
      const double margin = method.margin() * method.z_scale();
      EXPECT_LE(margin, most * (1 + 1e-12)) << t;
      if (least > 0) {
        EXPECT_GE(margin, least - 4 * (1 + log_n) * (1 + 2 * std::log(t + 1.0)) / (least * std::pow(t + 1.0, 2))) << t;
      }
    }
    method.momentum_step(t, 1.0);
    if (t == 0) continue;
    const double square = 4 * method.gradient_average().squaredNorm() / (static_cast<double>(t) * t);
    EXPECT_GE(square, least * least * (1 - 1e-12)) << t;
    EXPECT_LE(square - 8 * log_n / std::pow(t + 1.0, 2), most * most * (1 + 1e-12)) << t;
  }
}

/// The margin to ten digits by cutting_plane, whose interval is certified.
Margin certified(const Rows& rows) {
  const Model m = fit(make_dataset(rows), hard("cutting_plane", false, 1e-10));
  EXPECT_EQ(m.status, Status::optimal);
  return {m.certificate.lower, m.certificate.upper};
}

TEST(Momentum, theorem_3_1_on_small_problems) {
  for (std::uint64_t seed = 0; seed < 42; ++seed) {
    SCOPED_TRACE(seed);
    const Rows rows = random_rows(static_cast<Family>(seed % 7), 700 + seed, 2);
    const std::optional<Margin> known = maximum_margin(rows, false);
    ASSERT_TRUE(known.has_value());
    check_theorem(rows, *known, 400);  // also where the margin is 0
  }
}

/// The step of size 1 at these weights by its definition, and the smallest margin of each bank.
struct ByDefinition {
  ByDefinition(const Problem& problem, double z_scale, const Weights& w, bool intercept)
      : step(Eigen::RowVectorXd::Zero(w.cols())), low(intercept ? 2 : 1, std::numeric_limits<double>::infinity()) {
    const auto sign = [&](std::int64_t i) { return problem.label[static_cast<std::size_t>(i)] == 1 ? 1 : -1; };
    for (std::size_t b = 0; b < low.size(); ++b) {
      std::vector<std::pair<std::int64_t, double>> margins;
      for (std::int64_t i = 0; i < problem.rows(); ++i)
        if (!intercept || problem.label[static_cast<std::size_t>(i)] == static_cast<int>(b)) {
          margins.emplace_back(i, sign(i) * z_scale * dot(problem.data.row(i), w.data()));
          low[b] = std::min(low[b], margins.back().second);
        }
      double mass = 0;
      Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(w.cols());
      for (const auto& [i, margin] : margins) {
        const double q = std::exp(low[b] - margin);
        mass += q;
        add(sign(i) * q, problem.data.row(i), sum.data());
      }
      step += z_scale / mass / static_cast<double>(low.size()) * sum;
    }
  }
  Eigen::RowVectorXd step;
  std::vector<double> low;
};

// Weights that no reference foresaw, so that the chunks of a pass end with references of their own: the direction is that
// of the rows' weights by their definition.
TEST(Momentum, chunks_with_references_of_their_own_add_up) {
  constexpr int n = 20000, d = 40;
  Random random(11);
  Dataset data(Dataset::Outcome::classes);
  for (int c = 0; c < 2; ++c) data.classes().intern(std::to_string(c), c);
  for (int i = 0; i < n; ++i) {
    double x[d];
    for (double& v : x) v = 2 * random.uniform() - 1;
    x[0] *= 1 + 4.0 * i / n;  // the later, the farther from 0
    data.append(dense_row(x, d), Label(x[0] + x[1] > 0 ? 1 : 0));
  }
  for (const bool intercept : {false, true}) {
    const Options s = hard("momentum", intercept, 1e-3);
    const Problem problem = make_problem(data, s);
    Progress progress;
    margin::Run run(s, progress, "momentum", 10);
    FirstOrder method(problem, run, false);
    method.pass();
    method.step(-9000);
    const Weights before = method.weights();
    method.pass();
    method.step(1);
    const Weights found = method.weights() - before;
    const ByDefinition expected(problem, method.z_scale(), before, intercept);
    for (const double low : expected.low) EXPECT_LT(low, -1000);  // far from where the pass before was
    EXPECT_LE((found.row(0) - expected.step).norm(), 1e-9 * expected.step.norm()) << intercept;
  }
}

// Rows of every form, most of which are soon not read: the passes are those over all rows, also where the weights turn
// back all of a sudden.
TEST(Momentum, passes_that_leave_far_rows_out_are_passes_over_all_rows) {
  constexpr int n = 3000, d = 37;
  Random random(12);
  Dataset data(Dataset::Outcome::classes);
  for (int c = 0; c < 2; ++c) data.classes().intern(std::to_string(c), c);
  for (int i = 0; i < n; ++i) {
    double x[d];
    const double y = random.below(2) == 0 ? -1 : 1;
    for (double& v : x) v = static_cast<float>(i % 7 == 0 && random.below(20) > 0 ? 0 : random.uniform() - 0.5);
    x[0] = static_cast<float>(y * (0.2 + 2 * random.uniform()));
    if (i % 3 == 0) x[1] += 1e-12;  // no float
    data.append(dense_row(x, d), Label(y > 0 ? 1 : 0));
  }
  for (const bool intercept : {false, true}) {
    const Options s = hard("momentum", intercept, 1e-3);
    const Problem problem = make_problem(data, s);
    Progress progress;
    margin::Run run(s, progress, "momentum", 1000);
    FirstOrder method(problem, run, false);
    for (int t = 0; t < 600; ++t) {
      const Weights before = method.weights();
      method.pass();
      const ByDefinition expected(problem, method.z_scale(), before, intercept);
      double margin = 0;
      for (const double low : expected.low) margin += low / static_cast<double>(expected.low.size());
      if (t > 0) {
        EXPECT_NEAR(method.margin() * before.norm(), margin / method.z_scale(), 1e-12 * before.norm()) << t;
      }
      method.step(1);
      EXPECT_LE((method.weights().row(0) - before.row(0) - expected.step).norm(), 1e-9) << t;
      method.step(-1);
      method.momentum_step(t, 1.0);
      if (t == 500) method.step(-2 * method.weights().norm());
    }
  }
}

// Few rows of many features, in every form: vectors kept as combinations of rows are those of the passes over the rows,
// and so are the bounds, long after the move.
TEST(Momentum, combinations_of_few_rows_are_the_vectors_that_passes_make) {
  constexpr int n = 50, d = 700;
  for (const bool intercept : {false, true})
    for (const bool logistic : {false, true})
      for (const double share : {1.0, 0.3}) {  // of features that are not 0
        SCOPED_TRACE(std::to_string(intercept) + std::to_string(logistic) + " " + std::to_string(share));
        Random random(14);
        Dataset data(Dataset::Outcome::classes);
        for (int c = 0; c < 2; ++c) data.classes().intern(std::to_string(c), c);
        for (int i = 0; i < n; ++i) {
          double x[d];
          for (double& v : x) v = random.uniform() < share ? static_cast<float>(random.uniform() - 0.5) : 0;
          if (i % 3 == 0) x[1] += 1e-12;  // no float
          data.append(dense_row(x, d), Label(i % 2));
        }
        Options s = hard("momentum", intercept, 1e-3);
        s.loss = logistic ? "logistic" : "exponential";
        const Problem problem = make_problem(data, s);
        ASSERT_TRUE(RowProducts::worthwhile(problem));
        Progress progress;
        margin::Run run(s, progress, "momentum", 1000);
        FirstOrder method(problem, run, logistic, RowProducts::bytes(problem)), by_passes(problem, run, logistic);
        for (int t = 0; t < 600; ++t) {
          for (FirstOrder* m : {&method, &by_passes}) {
            m->pass();
            m->average(t);
            m->momentum_step(t, logistic ? 1.0 / n : 1.0);
            if (t == 500) m->keep();
          }
          ASSERT_LE((method.weights() - by_passes.weights()).norm(), 1e-9 * by_passes.weights().norm()) << t;
          ASSERT_NEAR(method.margin(), by_passes.margin(), 1e-10) << t;
          if (t > 0) {
            ASSERT_NEAR(method.upper(), by_passes.upper(), 1e-10) << t;
          }
        }
        EXPECT_LE((method.kept() - by_passes.kept()).norm(), 1e-9 * by_passes.kept().norm());
        EXPECT_LE((method.averaged_dual() - by_passes.averaged_dual()).norm(), 1e-9 * by_passes.averaged_dual().norm());
        EXPECT_TRUE(method.in_span());
        EXPECT_FALSE(by_passes.in_span());
      }
}

// Rows that some weights barely separate, or none: their products would not have the digits.
TEST(Momentum, rows_without_a_margin_to_speak_of_are_passed_over) {
  constexpr int n = 20, d = 200;
  Random random(15);
  Dataset data(Dataset::Outcome::classes);
  for (int c = 0; c < 2; ++c) data.classes().intern(std::to_string(c), c);
  float x[d];
  for (int i = 0; i < n; ++i) {
    if (i % 2 == 0)
      for (float& v : x) v = static_cast<float>(random.uniform() - 0.5);
    x[0] += 1e-4F;
    data.append(dense_row(x, d), Label(i % 2));
  }
  const Options s = hard("momentum", false, 1e-3);
  const Problem problem = make_problem(data, s);
  ASSERT_TRUE(RowProducts::worthwhile(problem));
  Progress progress;
  margin::Run run(s, progress, "momentum", 1000);
  FirstOrder method(problem, run, false, RowProducts::bytes(problem));
  for (int t = 0; t < 300; ++t) {
    method.pass();
    method.momentum_step(t, 1.0);
  }
  EXPECT_FALSE(method.in_span());
}

// Whatever the way of the weights, a row that is called far is far.
TEST(FarRows, never_calls_a_row_far_that_is_near) {
  constexpr int n = 300, d = 12;
  Random random(13);
  Weights rows(n, d), w(1, d), g(1, d);
  for (Eigen::Index k = 0; k < rows.size(); ++k) rows.data()[k] = 2 * random.uniform() - 1;
  const double radius = rows.rowwise().norm().maxCoeff();
  FarRows far(n, radius);
  w.setConstant(1);
  int called_far = 0, near_again = 0;
  for (int t = 0; t < 3000; ++t) {
    far.move_to(w);
    const double threshold = (random.uniform() - 0.2) * radius * w.norm() / 4;
    for (int i = 0; i < n; ++i) {
      const double margin = rows.row(i).dot(w.row(0));
      if (far.key(i) > far.key_above(threshold)) {
        ++called_far;
        EXPECT_GE(margin, threshold - 1e-9 * radius * w.norm()) << t;
      } else if (random.below(3) == 0) {
        near_again += margin > threshold;
        far.read(i, margin);
      }
    }
    for (int j = 0; j < d; ++j) g(0, j) = 2 * random.uniform() - 1;
    w = (0.97 + 0.1 * random.uniform()) * w + 0.003 * w.norm() * g;
    if (t % 500 == 499) w *= -1;
    if (t % 700 == 699) w = 0.01 * g;
  }
  EXPECT_GT(called_far, 100000);
  EXPECT_GT(near_again, 1000);
}

TEST(Momentum, theorem_3_1_on_closed_forms) {
  for (const Named& p : named_problems()) {
    if (p.rows.classes > 2 || p.rows.dimensions() > 100 || !p.without_intercept || p.name == "all_zero") continue;
    SCOPED_TRACE(p.name);
    check_theorem(p.rows, *known_margin(p, false), 500);
  }
}

TEST(Momentum, theorem_3_1_on_gaussian_rows) {
  for (const int d : {2, 10, 100}) {
    const Rows rows = gaussian_rows(71, 400, d, 0.2);
    check_theorem(rows, certified(rows), 1000);
  }
}

TEST(Momentum, theorem_5_1_for_several_classes) {
  for (const int classes : {3, 5}) {
    const Rows rows = gaussian_rows(72, 100, 8, 0.3, classes);
    check_theorem(rows, certified(rows), 500);
    check_theorem(simplex(classes), {1 / std::sqrt(classes - 1.0L) * (1 - 1e-15L), 1 / std::sqrt(classes - 1.0L)}, 500);
  }
  for (std::uint64_t seed = 0; seed < 14; ++seed) {
    const Rows rows = random_rows(static_cast<Family>(seed % 7), 800 + seed, 3);
    const std::optional<Margin> known = maximum_margin(rows, false);
    ASSERT_TRUE(known.has_value());
    check_theorem(rows, *known, 200);
  }
}

TEST(Momentum, every_interval_holds_whatever_the_loss_and_the_intercept) {
  for (std::uint64_t seed = 0; seed < 28; ++seed)
    for (const bool intercept : {true, false})
      for (const bool logistic : {true, false}) {
        const Rows rows = random_rows(static_cast<Family>(seed % 7), 900 + seed, seed % 4 == 3 && !logistic ? 3 : 2);
        SCOPED_TRACE("seed " + std::to_string(seed) + (intercept ? " intercept" : "") + (logistic ? " logistic" : ""));
        const std::optional<Margin> known = maximum_margin(rows, intercept);
        ASSERT_TRUE(known.has_value());
        Options s = hard("momentum", intercept, 1e-3);
        s.loss = logistic ? "logistic" : "exponential";
        const Dataset data = make_dataset(rows);
        const Problem problem = make_problem(data, s);
        Progress progress;
        margin::Run run(s, progress, "momentum", 1);
        FirstOrder method(problem, run, logistic);
        const double room = 1e-13 * static_cast<double>(rows.radius());
        for (int t = 0; t < 150; ++t) {
          method.pass();
          if (t > 0) {
            EXPECT_LE(method.margin(), static_cast<double>(known->upper) + room) << t;
          }
          method.average(t + 1.0);
          if (rows.classes == 2 || !intercept) {
            EXPECT_GE(method.upper(), static_cast<double>(known->lower) - room) << t;
          }
          method.momentum_step(t, logistic ? 1.0 / rows.count() : 1.0);
        }
      }
}

TEST(Momentum, several_classes_with_intercept_close_the_interval) {
  const Rows rows = gaussian_rows(11, 120, 6, 0.3, 5);
  Options s = hard("momentum", true, 1e-2);
  s.max_iterations = 5000;
  const Model m = fit(make_dataset(rows), s);
  EXPECT_EQ(m.status, Status::optimal);
  const Model exact = fit(make_dataset(rows), hard("cutting_plane", true, 1e-8));
  EXPECT_LE(m.certificate.lower, exact.certificate.upper);
  EXPECT_GE(m.certificate.upper, exact.certificate.lower);
}

class Baseline : public ::testing::TestWithParam<std::string> {};

TEST_P(Baseline, the_interval_shrinks_with_the_iterations) {
  for (const bool intercept : {true, false}) {
    const Dataset data = make_dataset(gaussian_rows(81, 150, 8, 0.8));
    double last = std::numeric_limits<double>::infinity();
    for (const int iterations : {20, 200, 2000}) {
      Options s = hard(GetParam(), intercept, 1e-6);
      s.max_iterations = iterations;
      s.history = true;
      const Model m = fit(data, s);
      EXPECT_LT(m.certificate.gap, last) << iterations;
      last = m.certificate.gap;
      for (std::size_t t = 1; t < m.history.size(); ++t) {
        EXPECT_GE(m.history[t].lower, m.history[t - 1].lower);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Baseline,
                         ::testing::Values("momentum", "gradient_descent", "normalized_gradient_descent",
                                           "batch_perceptron"),
                         [](const ::testing::TestParamInfo<std::string>& info) { return info.param; });

// Figure 1 of the paper: momentum ahead of the normalised methods, plain gradient descent far behind.
TEST(Momentum, is_ahead_of_the_baselines_after_500_passes) {
  const Dataset data = make_dataset(gaussian_rows(82, 300, 20, 0.5));
  std::map<std::string, double> lower;
  for (const char* solver : {"momentum", "gradient_descent", "normalized_gradient_descent", "batch_perceptron"}) {
    Options s = hard(solver, false, 1e-6);
    s.max_iterations = 500;
    lower[solver] = fit(data, s).certificate.lower;
  }
  EXPECT_GT(lower["momentum"], lower["normalized_gradient_descent"]);
  EXPECT_GT(lower["momentum"], lower["batch_perceptron"]);
  EXPECT_GT(lower["normalized_gradient_descent"], lower["gradient_descent"]);
  EXPECT_GT(lower["batch_perceptron"], lower["gradient_descent"]);
}

}  // namespace
}  // namespace margin
