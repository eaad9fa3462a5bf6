// Least norm weights that meet every target: against the pseudo-inverse, optimality conditions and contradictions.
#include "core/certificate/interpolation.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "core/base/error.hpp"
#include "core/math/norm.hpp"
#include "margin_problems.hpp"

namespace margin {
namespace {

using namespace reference;

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Targets {
  Eigen::MatrixXd x;
  Eigen::VectorXd lower, upper;
};

Dataset make_data(const Targets& t, bool sparse = false) {
  Dataset data(Dataset::Outcome::intervals);
  for (Eigen::Index i = 0; i < t.x.rows(); ++i) {
    const Eigen::VectorXd row = t.x.row(i);
    std::vector<std::int32_t> columns;
    for (std::int32_t j = 0; j < row.size(); ++j) columns.push_back(j);
    if (sparse)
      data.append(sparse_row(columns.data(), row.data(), static_cast<std::int32_t>(row.size()),
                             static_cast<std::int32_t>(row.size())),
                  {t.lower(i), t.upper(i)});
    else
      data.append(dense_row(row.data(), static_cast<std::int32_t>(row.size())), {t.lower(i), t.upper(i)});
  }
  return data;
}

Options interpolate(double norm, bool intercept, double tolerance = 1e-3) {
  Options s;
  s.loss = "interpolate";
  s.norm = norm;
  s.intercept = intercept;
  s.tolerance = tolerance;
  s.dual_weights = true;
  return s;
}

Eigen::MatrixXd gaussian_matrix(Random& random, Eigen::Index n, Eigen::Index d) {
  Eigen::MatrixXd x(n, d);
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j < d; ++j) x(i, j) = gaussian(random);
  return x;
}

TEST(Interpolation, EqualsThePseudoInverse) {
  Random random(3);
  for (const Eigen::Index n : {1, 5, 40, 300})
    for (const bool intercept : {false, true})
      for (const double size : {1.0, 1e100, 1e-100}) {
        const Eigen::Index d = n == 300 ? 500 : 60;
        Targets t{gaussian_matrix(random, n, d), {}, {}};
        t.lower = gaussian_matrix(random, n, 1);
        if (n == 40) t.x.row(7) = t.x.row(3), t.lower(7) = t.lower(3);  // a repeated row
        t.upper = t.lower;
        // With an intercept: min ‖w‖ alone, hence of the rows and targets less the combination that b takes away.
        Eigen::MatrixXd x = t.x;
        Eigen::VectorXd y = t.lower;
        if (intercept) {
          x.rowwise() -= t.x.colwise().mean();
          y.array() -= y.mean();
        }
        const Eigen::VectorXd expected = x.completeOrthogonalDecomposition().solve(y);
        Targets scaled = t;
        scaled.x *= size;
        const Model m = fit(make_data(scaled, n == 5), interpolate(2, intercept, 1e-9));
        EXPECT_EQ(m.status, Status::optimal) << m.certificate.slack << " " << m.certificate.relative_gap;
        EXPECT_LE((m.weights.row(0).transpose() * size - expected).norm(), 1e-8 * std::max(1.0, expected.norm())) << n;
        EXPECT_GE(m.certificate.slack, -1e-9);
        EXPECT_EQ(m.loss, "interpolate");
        EXPECT_EQ(m.task, Task::regression);
      }
}

/// Feasible, and the dual value meets the primal one: nothing else can be the optimum. Checked in long double.
void check_optimum(const Targets& t, double norm, bool intercept, const Model& m) {
  const auto n = t.x.rows(), d = t.x.cols();
  double worst = infinity;
  for (Eigen::Index i = 0; i < n; ++i) {
    const double s = t.x.row(i).dot(m.weights.row(0)) + m.intercept(0);
    worst = std::min({worst, s - t.lower(i), t.upper(i) - s});
  }
  EXPECT_NEAR(worst, m.certificate.slack, 1e-11);
  Eigen::VectorXd alpha = m.dual_weights->col(0);
  double up = 0, down = 0;
  for (Eigen::Index i = 0; i < n; ++i) (alpha(i) > 0 ? up : down) += std::fabs(alpha(i));
  if (alpha.isZero()) return;
  Real height = 0;
  std::vector<double> u(static_cast<std::size_t>(d), 0.0);
  for (Eigen::Index i = 0; i < n; ++i) {
    if (intercept) alpha(i) /= alpha(i) > 0 ? up : down;
    if (alpha(i) == 0) continue;
    height += static_cast<Real>(alpha(i)) * (alpha(i) > 0 ? t.lower(i) : t.upper(i));
    for (Eigen::Index j = 0; j < d; ++j) u[static_cast<std::size_t>(j)] += alpha(i) * t.x(i, j);
  }
  const double bound = static_cast<double>(height) / lp_norm(u.data(), d, dual_exponent(norm));
  EXPECT_LE(m.certificate.lower, 0.5 * bound * bound * (1 + 1e-12));
  EXPECT_GE(m.certificate.lower, 0.5 * bound * bound * (1 - 1e-6));
  EXPECT_NEAR(m.certificate.upper, 0.5 * std::pow(lp_norm(m.weights.data(), d, norm), 2), 1e-12 * m.certificate.upper);
}

TEST(Interpolation, MeetsNumbersAndRangesInEveryNorm) {
  Random random(5);
  int optimal = 0;
  for (int trial = 0; trial < 120; ++trial) {
    const double norm = (const double[]){2.0, 1.8, 1.4, 1.15, 1.05}[trial % 5];
    const bool intercept = trial % 2 == 0;
    const Eigen::Index n = 1 + static_cast<Eigen::Index>(random.below(25)),
                       d = n + static_cast<Eigen::Index>(random.below(20));
    Targets t{gaussian_matrix(random, n, d), Eigen::VectorXd(n), Eigen::VectorXd(n)};
    for (Eigen::Index i = 0; i < n; ++i) {
      const double y = gaussian(random), width = 2 * random.uniform();
      const std::uint32_t kind = random.below(4);
      t.lower(i) = kind == 1 ? -infinity : y;
      t.upper(i) = kind == 0 ? y : (kind == 2 ? infinity : y + width);
    }
    SCOPED_TRACE(::testing::Message() << "trial " << trial << " p " << norm << " n " << n << " d " << d);
    const Model m = fit(make_data(t), interpolate(norm, intercept, 1e-6));
    EXPECT_EQ(m.status, Status::optimal) << m.certificate.slack << " " << m.certificate.relative_gap;
    optimal += m.status == Status::optimal;
    check_optimum(t, norm, intercept, m);
  }
  EXPECT_EQ(optimal, 120);
}

/// Labels as half lines are the hard margin: the least norm is 1 over the margin.
TEST(Interpolation, OfHalfLinesIsTheMargin) {
  const Rows rows = gaussian_rows(3, 400, 6, 0.4);
  for (const double norm : {2.0, 1.3})
    for (const bool intercept : {true, false}) {
      Targets t{Eigen::MatrixXd(rows.count(), 6), Eigen::VectorXd(rows.count()), Eigen::VectorXd(rows.count())};
      for (int i = 0; i < rows.count(); ++i) {
        for (int j = 0; j < 6; ++j) t.x(i, j) = rows.x[at(i)][at(j)];
        t.lower(i) = rows.y[at(i)] == 1 ? 1 : -infinity;
        t.upper(i) = rows.y[at(i)] == 1 ? infinity : -1;
      }
      Options margin = hard("auto", intercept, 1e-8);
      margin.norm = norm;
      const Model m = fit(make_data(t), interpolate(norm, intercept, 1e-6)), h = fit(make_dataset(rows), margin);
      EXPECT_EQ(m.status, Status::optimal);
      EXPECT_NEAR(std::sqrt(2 * m.certificate.upper) * h.certificate.lower, 1, 1e-6);
    }
}

TEST(Interpolation, ProvesContradictions) {
  Random random(8);
  for (int trial = 0; trial < 60; ++trial) {
    const double norm = trial % 3 == 0 ? 1.2 : 2;
    const bool intercept = trial % 2 == 0;
    const Eigen::Index d = 1 + static_cast<Eigen::Index>(random.below(5)), n = d + 3;
    Targets t{gaussian_matrix(random, n, d), gaussian_matrix(random, n, 1), {}};
    t.upper = t.lower;
    if (trial % 5 == 0) {  // the same row twice, with ranges that do not meet
      t.x.row(1) = t.x.row(0);
      t.lower = Eigen::VectorXd::Constant(n, -infinity);
      t.upper = Eigen::VectorXd::Constant(n, infinity);
      t.upper(0) = 1;
      t.lower(1) = 1.5;
    }
    const Model m = fit(make_data(t), interpolate(norm, intercept));
    EXPECT_EQ(m.status, Status::not_separable) << trial << " " << m.certificate.lower;
    EXPECT_TRUE(m.weights.allFinite());
    EXPECT_TRUE(std::isfinite(m.certificate.gap));
  }
}

TEST(Interpolation, HasNothingToDoWhereZeroServes) {
  const Targets t{Eigen::MatrixXd::Ones(3, 2), Eigen::Vector3d(-1, -infinity, 0), Eigen::Vector3d(1, 4, infinity)};
  const Model m = fit(make_data(t), interpolate(1.5, false));
  EXPECT_EQ(m.status, Status::optimal);
  EXPECT_EQ(m.weights.cwiseAbs().maxCoeff(), 0);
  EXPECT_EQ(m.certificate.upper, 0);
}

TEST(Interpolation, RefusesWhatItCannotMean) {
  const Targets t{Eigen::MatrixXd::Ones(3, 2), Eigen::Vector3d::Zero(), Eigen::Vector3d::Zero()};
  Options s = interpolate(2, true);
  s.lambda = 1;
  EXPECT_THROW(fit(make_data(t), s), Error);
  s = interpolate(1, true);
  EXPECT_THROW(fit(make_data(t), s), Error);
  s = interpolate(2, true);
  s.solver = "momentum";
  EXPECT_THROW(fit(make_data(t), s), Error);
  EXPECT_THROW(Label(2, 1), Error);
  EXPECT_THROW(Label(2, std::nan("")), Error);
  EXPECT_THROW(Label(infinity, infinity), Error);
}

}  // namespace
}  // namespace margin
