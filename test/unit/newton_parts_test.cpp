// What newton is made of, each against plain formulas: kernels, Gram matrices and Cholesky, the augmented Lagrangian.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "core/solvers/newton/augmented_lagrangian.hpp"
#include "core/solvers/newton/gram.hpp"
#include "core/solvers/solver.hpp"
#include "newton_problems.hpp"

namespace margin {

extern const Solver& newton;
namespace {

using testing::normal;
using testing::sample;
using testing::soft;
using testing::Storage;
using testing::store;
using testing::Table;

TEST(NewtonKernels, RankUpdateOfEverySet) {
  Random random(3);
  const KernelList sets = available_kernels();
  for (const std::size_t d : {1, 15, 16, 17, 70})
    for (const std::size_t rows : {1, 7, 256}) {
      const std::size_t wide = panel_bytes / sizeof(double), panels = (d + wide - 1) / wide;
      std::vector<double> a(panels * wide * rows, 0.0);
      std::vector<float> narrow((panels + 1) / 2 * 2 * wide * rows, 0.0F);
      const auto at = [&](std::size_t i, std::size_t j, std::size_t width) {
        return j / width * width * rows + i * width + j % width;
      };
      for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < d; ++j) {
          a[at(i, j, wide)] = static_cast<float>(normal(random));
          narrow[at(i, j, 2 * wide)] = static_cast<float>(a[at(i, j, wide)]);
        }
      const std::size_t stride = (panels + 1) / 2 * 2 * wide;
      for (int k = 0; k < sets.count; ++k) {
        std::vector<double> h(stride * stride, 1.0), hf = h;
        for (std::size_t p = 0; p < panels; ++p)
          sets.items[k]->rank_update_d(a.data(), rows, wide * rows, p, panels, -0.5, h.data(), stride);
        for (std::size_t p = 0; p < (panels + 1) / 2; ++p)
          sets.items[k]->rank_update_f(narrow.data(), rows, 2 * wide * rows, p, (panels + 1) / 2, -0.5, hf.data(),
                                       stride);
        for (std::size_t j = 0; j < d; ++j)
          for (std::size_t l = j; l < d; ++l) {
            double sum = 0, size = 1;
            for (std::size_t i = 0; i < rows; ++i) {
              sum += a[at(i, j, wide)] * a[at(i, l, wide)];
              size += std::fabs(a[at(i, j, wide)] * a[at(i, l, wide)]);
            }
            EXPECT_NEAR(h[j * stride + l], 1 - 0.5 * sum, 1e-14 * size) << sets.items[k]->name << d << " " << rows;
            EXPECT_NEAR(hf[j * stride + l], 1 - 0.5 * sum, 3e-6 * size) << sets.items[k]->name << d << " " << rows;
          }
      }
    }
}

TEST(NewtonKernels, BoxRowsFollowTheLosses) {
  Random random(5);
  const KernelList sets = available_kernels();
  for (const std::string name : {"hinge", "absolute", "epsilon_insensitive"}) {
    Options s;
    s.epsilon = 0.3;
    const auto loss = make_loss(name, s);
    const bool classes = loss->classification();
    const std::size_t n = 101;
    std::vector<double> u(n), du(n), y(n), cost(n), old(n), a(n), free(n);
    for (std::size_t i = 0; i < n; ++i) {
      u[i] = 2 * normal(random);
      du[i] = normal(random);
      y[i] = classes ? (random.below(2) == 0 ? -1.0 : 1.0) : normal(random);
      cost[i] = random.uniform();
      old[i] = loss->project(normal(random), y[i]);
    }
    for (const double kappa : {0.3, 7.0}) {
      for (int k = 0; k < sets.count; ++k) {
        const BoxRows rows{n,
                           u.data(),
                           du.data(),
                           y.data(),
                           cost.data(),
                           old.data(),
                           classes ? -0.5 : -1.0,
                           classes ? 0.5 : 0.0,
                           classes ? 0.5 : 1.0,
                           classes ? 0.5 : 0.0,
                           name == "epsilon_insensitive" ? 0.3 : 0.0,
                           kappa};
        double value, conjugate, slope, curvature, expected[4] = {0, 0, 0, 0};
        sets.items[k]->box_point(rows, a.data(), free.data(), &value, &conjugate);
        const double t = 0.37, h = 1e-7;
        sets.items[k]->box_line(rows, t, &slope, &curvature);
        for (std::size_t i = 0; i < n; ++i) {
          const double want = loss->dual_step(u[i], y[i], old[i], 1 / kappa);
          EXPECT_NEAR(a[i], want, 1e-14) << name;
          const double moved = loss->dual_step(u[i] + h, y[i], old[i], 1 / kappa);
          EXPECT_EQ(free[i] > 0, std::fabs(moved - want) > 0) << name << " " << i;
          expected[0] += cost[i] * loss->value(u[i], y[i]);
          expected[1] += cost[i] * loss->conjugate(a[i], y[i]);
          const double along = loss->dual_step(u[i] + t * du[i], y[i], old[i], 1 / kappa);
          expected[2] += cost[i] * along * du[i];
          expected[3] +=
              cost[i] * du[i] * (along - loss->dual_step(u[i] + (t + h) * du[i], y[i], old[i], 1 / kappa)) / h;
        }
        EXPECT_NEAR(value, expected[0], 1e-12);
        EXPECT_NEAR(conjugate, expected[1], 1e-12);
        EXPECT_NEAR(slope, expected[2], 1e-12);
        EXPECT_NEAR(curvature, expected[3], 1e-4 * (1 + curvature));
      }
    }
  }
}

TEST(NewtonKernels, LogisticToTheLastPlaces) {
  Random random(6);
  std::vector<double> u, y, value(4001), slope(4001);
  for (int i = 0; i < 4001; ++i) {
    u.push_back((i % 2 == 0 ? 1 : -1) * std::pow(10.0, 6 * random.uniform() - 3));
    y.push_back(random.below(2) == 0 ? -1.0 : 1.0);
  }
  u[0] = 0;
  u[1] = 1e308;
  u[2] = -1e308;
  u[3] = 709;
  u[4] = -745;
  const KernelList sets = available_kernels();
  for (int k = 0; k < sets.count; ++k) {
    sets.items[k]->logistic(u.data(), y.data(), u.size(), value.data(), slope.data());
    for (std::size_t i = 0; i < u.size(); ++i) {
      const long double m = static_cast<long double>(y[i]) * u[i];
      const long double e = std::exp(-std::fabs(m)), share = (m < 0 ? 1.0L : e) / (1 + e);
      const long double expected = std::log1p(e) + (m < 0 ? -m : 0.0L);
      // Beyond e^−708 the result is held there.
      EXPECT_NEAR(value[i], static_cast<double>(expected), 8e-16 * static_cast<double>(expected) + 1e-307) << u[i];
      EXPECT_NEAR(slope[i], static_cast<double>(-y[i] * share), 8e-16 * static_cast<double>(share) + 1e-307) << u[i];
    }
  }
}

TEST(NewtonCholesky, SolvesAndRefuses) {
  Random random(7);
  Options options;
  Progress progress;
  margin::Run run(options, progress, "test", 1);
  for (const int n : {1, 2, 63, 64, 65, 200}) {
    const Eigen::MatrixXd half = Eigen::MatrixXd::NullaryExpr(n, n + 3, [&] { return normal(random); });
    const Eigen::MatrixXd a = half * half.transpose();
    const Eigen::VectorXd b = Eigen::VectorXd::NullaryExpr(n, [&] { return normal(random); });
    SymmetricMatrix m(static_cast<std::size_t>(n));
    const auto fill = [&](const Eigen::MatrixXd& from) {
      m.set_zero();
      for (int j = 0; j < n; ++j)
        for (int k = j; k < n; ++k) m.row(static_cast<std::size_t>(j))[k] = from(j, k);
    };
    fill(a);
    ASSERT_TRUE(factorise(m, run));
    Eigen::VectorXd x = b;
    solve_factored(m, x.data());
    EXPECT_LE((a * x - b).norm(), 1e-9 * a.norm() * x.norm()) << n;

    // Without some of its rows, the last, the first and one between.
    std::vector<int> left;
    for (int j = 0; j < n; ++j) left.push_back(j);
    for (const std::size_t at : {left.size() - 1, std::size_t{0}, left.size() / 3}) {
      if (at >= left.size()) continue;
      remove_factored(m, left.size(), at, run);
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(at));
      const Eigen::MatrixXd of_left = a(left, left);
      x = b.head(of_left.rows());
      solve_factored(m, left.size(), x.data(), nullptr);
      EXPECT_LE((of_left * x - b.head(of_left.rows())).norm(), 1e-9 * a.norm() * (1 + x.norm())) << n << " " << at;
    }

    // Rank one less: refused, or the dependent row dropped.
    Eigen::MatrixXd lame = half;
    lame.row(n - 1) =
        n > 1 ? Eigen::RowVectorXd(lame.row(0) - lame.row(n / 2 - (n == 2 ? 1 : 0))) : Eigen::RowVectorXd::Zero(n + 3);
    if (n <= 2) lame.row(n - 1).setZero();
    const Eigen::MatrixXd singular = lame * lame.transpose();
    fill(singular);
    EXPECT_FALSE(factorise(m, run)) << n;
    fill(singular);
    EXPECT_TRUE(factorise(m, run, true)) << n;
    Eigen::MatrixXd u = Eigen::MatrixXd::Zero(n, n);
    for (int j = 0; j < n; ++j)
      for (int k = j; k < n; ++k) u(j, k) = m.row(static_cast<std::size_t>(j))[k];
    EXPECT_LE((u.transpose() * u - singular).norm(), 1e-12 * (1 + singular.norm())) << n;
  }
}

TEST(NewtonAugmented, RetreatsFromATooSharpStart) {
  // Multipliers at their ends, a poor w and a proximal weight without smoothing: left alone, the inner problem would
  // crawl from kink to kink.
  Table t = sample(89, 20000, 60, true);
  const Dataset data = store(t, true, Storage::floats);
  Options s = soft("hinge", 1e-6, 1e-6);
  const Problem p = make_problem(data, s);
  Progress progress;
  margin::Run run(s, progress, "test", 1);
  const NewtonProblem problem(p, 0, NewtonProblem::Systems::cholesky, run);
  const BoxLoss box(*p.loss);
  AugmentedLagrangian lagrangian(problem, box, std::vector<double>(problem.rows.columns(), 0.0));
  for (std::size_t i = 0; i < 20000; ++i) lagrangian.a[i] = problem.y[i];
  lagrangian.kappa = 1e4;
  const double gap = 0.1;  // of F = P/λ, which is some 10⁵ here
  EXPECT_TRUE(lagrangian.solve(gap, 300, 0, 0, nullptr));
  EXPECT_LE(lagrangian.gap(), gap);
}

TEST(NewtonAugmented, TakesTargetsOfAnyUnit) {
  // Targets × u and λ / u: the same problem, of weights × u.
  for (const std::string loss : {"absolute", "quantile"})
    for (const double unit : {0x1p-100, 1.0, 0x1p100}) {
      Table t = sample(91, 6000, 6, false);
      for (double& y : t.y) y *= unit;
      const Dataset data = store(t, false, Storage::floats);
      Options s = soft(loss, 1e-4 / unit, 1e-6);
      const testing::Solved r = testing::solve_with(newton, data, s);
      EXPECT_EQ(r.solution.status, Status::optimal) << loss << " " << unit;
      EXPECT_LE(r.solution.iterations, 60) << loss << " " << unit;
    }
}

TEST(NewtonSample, HasOneRowOfEachStretch) {
  Table classes = sample(7, 5003, 30, true), targets = sample(7, 5003, 30, false);
  const Dataset labels = store(classes, true, Storage::floats), numbers = store(targets, false, Storage::floats);
  Progress progress;
  const auto of = [&](const std::string& loss) {
    Options s = soft(loss, 1e-3, 1e-6);
    const Problem p = make_problem(loss == "squared" ? numbers : labels, s);
    margin::Run run(s, progress, "test", 1);
    return RowSample(NewtonProblem(p, 0, NewtonProblem::Systems::cholesky, run));
  };
  const RowSample rows = of("logistic");
  EXPECT_EQ(rows.stride, 8);  // 626 rows for 31 columns
  ASSERT_EQ(rows.which.size(), 626U);
  std::vector<int> seen(8);
  for (std::size_t k = 0; k < rows.which.size(); ++k) {
    EXPECT_EQ(rows.which[k] / 8, static_cast<std::int64_t>(k));
    EXPECT_LT(rows.which[k], 5003);
    ++seen[static_cast<std::size_t>(rows.which[k] % 8)];
  }
  // Whatever comes again every so many rows is in the sample about as often as in the table.
  for (const int times : seen) {
    EXPECT_GT(times, 55);
    EXPECT_LT(times, 105);
  }
  EXPECT_EQ(of("logistic").which, rows.which);
  EXPECT_TRUE(of("hinge").which.empty());    // of which 31 columns want 3,100 rows
  EXPECT_TRUE(of("squared").which.empty());  // one step from anywhere
  EXPECT_EQ(sample_stride(16 * 256, 16, true), 16);
  EXPECT_EQ(sample_stride(8 * 400, 25, true), 8);
  EXPECT_EQ(sample_stride(4 * 256 - 1, 1, true), 1);
  EXPECT_EQ(sample_stride(4 * 2500, 25, false), 4);
}

}  // namespace
}  // namespace margin
