// Sparse models: the solver prox_newton, the certificate of lassos, penalty factors and signs, paths by columns.
#include "core/solvers/elastic_net/elastic_net.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "core/certificate/column_check.hpp"
#include "core/certificate/moment_check.hpp"
#include "core/model/verification.hpp"
#include "core/train/bound_prices.hpp"
#include "core/train/path.hpp"
#include "risk_problems.hpp"

namespace margin {
namespace {

using testing::make_dataset;
using testing::make_table;
using testing::normal;
using testing::Table;

std::vector<std::string> smooth_losses() {
  std::vector<std::string> out;
  Options s;
  for (const std::string_view name : loss_names())
    if (make_loss(name, s)->smoothness() > 0) out.emplace_back(name);
  return out;
}

Options sparse(const std::string& loss, double rho, double lambda) {
  Options s;
  s.loss = loss;
  s.lambda = lambda;
  s.l1_ratio = rho;
  s.epsilon = 0.2;
  s.smoothing = 0.6;
  s.tolerance = 1e-7;
  s.intercept_form = rho == 1 ? InterceptForm::free : InterceptForm::by_default;
  return s;
}

/// The optimum in long double, by cyclic coordinate descent with steps that no curvature of the loss forbids.
struct Optimum {
  std::vector<long double> w;
  long double b = 0, value = 0;
};

long double value_at(const Problem& p, const std::vector<long double>& w, long double b) {
  long double loss = 0, penalty = 0;
  for (std::int64_t i = 0; i < p.rows(); ++i) {
    const Row x = p.data.row(i);
    long double u = b;
    for (std::int32_t k = 0; k < x.count; ++k)
      u += static_cast<long double>(x.value(k)) * w[static_cast<std::size_t>(x.indices != nullptr ? x.indices[k] : k)];
    loss += p.weight(i) * static_cast<long double>(p.loss->value(static_cast<double>(u), p.target(i, 0)));
  }
  for (std::size_t j = 0; j < w.size(); ++j)
    penalty += p.factor(j) * (p.l1_ratio * std::fabs(w[j]) + (1 - p.l1_ratio) / 2 * w[j] * w[j]);
  if (!p.free_intercept && p.intercept)
    penalty += (1 - p.l1_ratio) / 2 * (b / p.intercept_scale) * (b / p.intercept_scale);
  return loss / p.total_weight + p.lambda * penalty;
}

Optimum optimum_of(const Problem& p, int rounds = 20000) {
  const auto d = static_cast<std::size_t>(p.dimensions()), n = static_cast<std::size_t>(p.rows());
  std::vector<std::vector<double>> x(n, std::vector<double>(d + 1, 0.0));
  for (std::size_t i = 0; i < n; ++i) {
    const Row row = p.data.row(static_cast<std::int64_t>(i));
    for (std::int32_t k = 0; k < row.count; ++k)
      x[i][static_cast<std::size_t>(row.indices != nullptr ? row.indices[k] : k)] = row.value(k);
    x[i][d] = p.intercept ? (p.free_intercept ? 1 : p.intercept_scale) : 0;
  }
  std::vector<long double> w(d + 1, 0.0L), u(n, 0.0L), steep(d + 1, 0.0L);
  for (std::size_t j = 0; j <= d; ++j)
    for (std::size_t i = 0; i < n; ++i)
      steep[j] += p.weight(static_cast<std::int64_t>(i)) * x[i][j] * x[i][j] / p.loss->smoothness() / p.total_weight;
  for (int round = 0; round < rounds; ++round) {
    long double largest = 0;
    for (std::size_t j = 0; j <= d; ++j) {
      const bool constant = j == d;
      const long double l1 = constant ? 0 : p.lambda * p.l1_ratio * p.factor(j);
      const long double l2 =
          constant ? (p.free_intercept ? 0 : p.lambda * (1 - p.l1_ratio)) : p.lambda * (1 - p.l1_ratio) * p.factor(j);
      if (!(steep[j] + l2 > 0)) continue;
      long double g = 0;
      for (std::size_t i = 0; i < n; ++i)
        if (x[i][j] != 0)
          g += p.weight(static_cast<std::int64_t>(i)) * x[i][j] / p.total_weight *
               static_cast<long double>(
                   p.loss->derivative(static_cast<double>(u[i]), p.target(static_cast<std::int64_t>(i), 0)));
      const long double pull = steep[j] * w[j] - g;
      long double to = pull > l1 ? pull - l1 : pull < -l1 ? pull + l1 : 0;
      to /= steep[j] + l2;
      if (!constant)
        to = std::clamp(to, static_cast<long double>(p.bounds.least(j)), static_cast<long double>(p.bounds.most(j)));
      const long double change = to - w[j];
      w[j] = to;
      largest = std::max(largest, std::fabs(change) / (1 + std::fabs(to)));
      for (std::size_t i = 0; i < n && change != 0; ++i) u[i] += change * x[i][j];
    }
    if (largest < 1e-17L) break;
  }
  Optimum o;
  o.b = p.intercept ? w[d] * (p.free_intercept ? 1 : p.intercept_scale) : 0;
  w.pop_back();
  o.w = w;
  o.value = value_at(p, o.w, o.b);
  return o;
}

struct Case {
  Table table;
  Options options;
};

Case random_case(Random& random, const std::string& loss, int trial) {
  const bool classes = !is_regression_loss(loss);
  Case c;
  c.table = make_table(random, trial % 8, classes);
  if (trial % 4 == 1)
    for (int i = 0; i < c.table.rows(); ++i) c.table.weight.push_back(i == 0 ? 1.0 : 3 * random.uniform());
  const double rho = trial % 2 == 0 ? 1.0 : trial % 3 == 0 ? 0.5 : 0.05;
  c.options = sparse(loss, rho, std::pow(10.0, -3 * random.uniform()));
  if (trial % 5 == 4) c.options.intercept = false;
  if (rho < 1 && trial % 4 == 3) c.options.intercept_form = InterceptForm::free;
  c.options.positive = trial % 3 == 2;
  if (trial % 3 == 1)
    for (int j = 0; j < c.table.dimensions(); ++j) c.options.penalty_factor.push_back(0.1 + 2 * random.uniform());
  if (trial % 6 == 3)  // on both sides, on one, and without 0 between them
    for (int j = 0; j < c.table.dimensions(); ++j)
      c.options.bounds.push_back(j % 3 == 0   ? WeightRange{-0.1, 0.05}
                                 : j % 3 == 1 ? WeightRange{-0.02}
                                              : WeightRange{0.01, 0.2});
  return c;
}

class ElasticNets : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Losses, ElasticNets, ::testing::ValuesIn(smooth_losses()));

TEST_P(ElasticNets, FindTheOptimumOfAnIndependentSolver) {
  Random random(5);
  const bool classes = !is_regression_loss(GetParam());
  for (int trial = 0; trial < 24; ++trial) {
    const Case c = random_case(random, GetParam(), trial);
    const Dataset data = make_dataset(c.table, classes);
    const Problem p = make_problem(data, c.options);
    const Optimum best = optimum_of(p, 4000);
    const Model model = train(data, c.options, Progress());
    EXPECT_EQ(model.solver, "prox_newton");
    EXPECT_EQ(model.status, Status::optimal) << trial << " gap " << model.certificate.relative_gap;
    const double value = static_cast<double>(best.value);
    EXPECT_LE(model.certificate.lower, value * (1 + 1e-14)) << trial;
    EXPECT_LE(model.certificate.upper, value * (1 + 1e-6) + 1e-12) << trial;
    for (std::int32_t j = 0; j < model.terms(); ++j)
      if (c.options.positive) {
        EXPECT_GE(model.weights(0, j), 0) << trial;
      }
  }
}

TEST_P(ElasticNets, CertificatesHoldForAnyVectors) {
  Random random(6);
  const bool classes = !is_regression_loss(GetParam());
  int proven = 0;
  for (int trial = 0; trial < 40; ++trial) {
    const Case c = random_case(random, GetParam(), trial);
    const Dataset data = make_dataset(c.table, classes);
    const Problem p = make_problem(data, c.options);
    const Optimum best = optimum_of(p, 2000);
    const Progress progress;
    ColumnCheck columns(p, progress);  // of all moves, so that sums of one save some of the next
    for (int move = 0; move < 4; ++move) {
      const double reach = move == 0 ? 0 : std::pow(10.0, -2.0 * move);
      Weights w(1, p.dimensions()), a(p.rows(), 1);
      Eigen::VectorXd b(1);
      b[0] = p.intercept ? static_cast<double>(best.b) + reach * normal(random) : 0;
      std::vector<long double> at;
      for (std::int32_t j = 0; j < p.dimensions(); ++j) {
        w(0, j) = static_cast<double>(best.w[static_cast<std::size_t>(j)]) + reach * normal(random);
        w(0, j) = p.bounds.clip(w(0, j), static_cast<std::size_t>(j));
        at.push_back(w(0, j));
      }
      for (std::int64_t i = 0; i < p.rows(); ++i) {
        const double u = dot(p.data.row(i), w.data()) + b[0], y = p.target(i, 0);
        a(i, 0) = p.loss->project(-p.loss->derivative(u, y) + reach * normal(random), y);
      }
      const Certificate by_rows = certify(p, w, b, a);
      EXPECT_GE(static_cast<long double>(by_rows.upper), value_at(p, at, b[0])) << trial;
      EXPECT_LE(static_cast<long double>(by_rows.lower), best.value * (1 + 1e-15L)) << trial << " " << move;
      proven += by_rows.lower > 0;

      const std::vector<double> weights(w.data(), w.data() + w.size());
      const Certificate by_columns = columns.certificate(weights, b[0], b[0], p.lambda);
      EXPECT_GE(static_cast<long double>(by_columns.upper), value_at(p, at, b[0])) << trial;
      EXPECT_LE(static_cast<long double>(by_columns.lower), best.value * (1 + 1e-15L)) << trial << " " << move;
      EXPECT_NEAR(by_columns.upper, by_rows.upper, 1e-9 * by_rows.upper) << trial;
      if (!MomentCheck::serves(p)) continue;
      const Certificate by_moments = MomentCheck(p, progress).certificate(weights, b[0], p.lambda);
      EXPECT_GE(static_cast<long double>(by_moments.upper), value_at(p, at, b[0])) << trial;
      EXPECT_LE(static_cast<long double>(by_moments.lower), best.value * (1 + 1e-15L)) << trial << " " << move;
    }
  }
  EXPECT_GT(proven, 60) << "or nothing was tested";
}

/// Rounding is bounded by columns: that of a time in seconds or milliseconds takes nothing of what the others prove.
TEST_P(ElasticNets, CertificatesOfLargeColumnsAreTight) {
  const bool classes = !is_regression_loss(GetParam());
  const Progress progress;
  for (const double unit : {0.0, 1.0, 1e3}) {
    Random random(9);
    Table t;
    for (int i = 0; i < 300; ++i) {
      const double a = normal(random), c = normal(random), share = random.uniform();
      // An amount of 5e4 with cents, or a time of one year.
      const double large = unit > 0 ? std::floor(unit * (1.7e9 + 3e7 * share)) : std::floor(1e7 * share) / 100;
      t.x.push_back({a, c, large});
      const double score = a - c / 2 + normal(random) / 2 + 3 * share - 1.5;
      t.y.push_back(classes                   ? (i < 2       ? i
                                                 : score > 0 ? 1
                                                             : 0)
                    : GetParam() == "poisson" ? std::floor(std::exp(score / 2))
                                              : score);
    }
    const Dataset data = make_dataset(t, classes);
    for (const bool free : {false, true})
      for (const double rho : {0.5, 1.0}) {
        if ((rho == 1 || unit == 1e3) && (!free || rho * unit == 1e3)) continue;
        Options s = sparse(GetParam(), rho, 1e-2);
        s.intercept_form = free ? InterceptForm::free : InterceptForm::by_default;
        const Problem p = make_problem(data, s);
        const Solution found = choose_solver(p, s).solve(p, s, progress);
        const Certificate by_rows = certify(p, found.weights, found.intercept, found.dual);
        const std::vector<double> w(found.weights.data(), found.weights.data() + found.weights.size());
        const double b = found.intercept[0];
        const Certificate by_columns = ColumnCheck(p, progress).certificate(w, b, b, p.lambda);
        EXPECT_LE(by_columns.lower, by_rows.upper);
        EXPECT_GE(by_columns.upper, by_rows.lower);
        EXPECT_LE(by_columns.gap, by_rows.gap + 1e-4 * by_rows.upper) << unit << free << rho;
      }
  }
}

/// Two classes in `d` features of which the first few say something.
Table wide_table(int n, int d, bool classes) {
  Random random(8);
  Table t;
  for (int i = 0; i < n; ++i) {
    std::vector<double> x(static_cast<std::size_t>(d));
    for (double& v : x) v = normal(random);
    const double score = 2 * x[0] - x[1] + 0.5 * x[2] + 0.3 * normal(random);
    t.y.push_back(classes ? (score > 0 ? 1 : 0) : score);
    t.x.push_back(std::move(x));
  }
  if (classes) t.y[0] = 0, t.y[1] = 1;
  return t;
}

// Sums of an earlier point stand in for those of a later one where they prove as much: the same bits as without them.
TEST_P(ElasticNets, SumsOfEarlierPointsChangeNoCertificate) {
  Random random(11);
  const bool classes = !is_regression_loss(GetParam());
  for (const double rho : {1.0, 0.4}) {
    const Dataset data = make_dataset(wide_table(60, 200, classes), classes);
    const Problem p = make_problem(data, sparse(GetParam(), rho, 1));
    const Progress progress;
    ColumnCheck warm(p, progress);
    std::vector<double> w(200, 0.0);
    double lambda = 0.5;
    for (int step = 0; step < 40; ++step) {
      // Small moves, and a large one now and then.
      for (std::size_t j = 0; j < 3; ++j) w[j] += (step % 13 == 12 ? 0.5 : 0.01) * normal(random);
      const double b = p.intercept ? 0.01 * normal(random) : 0.0;
      const Certificate got = warm.certificate(w, b, b, lambda),
                        fresh = ColumnCheck(p, progress).certificate(w, b, b, lambda);
      EXPECT_EQ(got.lower, fresh.lower) << step;
      EXPECT_EQ(got.upper, fresh.upper) << step;
      lambda *= 0.93;
    }
  }
}

TEST_P(ElasticNets, PathsGiveTheModelsOfSingleTrainings) {
  Random random(7);
  const bool classes = !is_regression_loss(GetParam());
  for (int trial = 0; trial < 6; ++trial) {
    Case c = random_case(random, GetParam(), trial);
    c.options.tolerance = 1e-6;
    c.options.standardize = trial % 2 == 1;
    const Dataset data = make_dataset(c.table, classes);
    SelectionOptions path;
    path.settings = c.options;
    path.losses = {GetParam()};
    path.lambdas = {0.003, 0.3, 0.03};
    const std::vector<Model> models = train_path(data, path, Progress());
    ASSERT_EQ(models.size(), 3U);
    for (std::size_t k = 0; k < 3; ++k) {
      Options alone = c.options;
      alone.lambda = path.lambdas[k];
      const Model one = train(data, alone, Progress());
      EXPECT_EQ(models[k].lambda, alone.lambda);
      EXPECT_EQ(models[k].status, Status::optimal) << trial << " " << models[k].certificate.relative_gap;
      EXPECT_EQ(models[k].rows, data.rows());
      const double upper = one.certificate.upper;
      EXPECT_LE(models[k].certificate.lower, upper);
      EXPECT_LE(one.certificate.lower, models[k].certificate.upper);
      EXPECT_NEAR(models[k].certificate.constant_failure, one.certificate.constant_failure, 1e-12);
      EXPECT_EQ(models[k].target_center, one.target_center);
      EXPECT_NEAR(models[k].certificate.failure, one.certificate.failure, classes ? 2.0 : 1e-3 * (1 + upper));
    }
  }
}

// By second moments, and where they are too coarse for the tolerance (targets that are met to five digits) by columns.
TEST(ElasticNet, SquaredPathsReadTheRowsOnceOrAsOftenAsTheyMust) {
  for (const double noise : {1.0, 0.01})
    for (const double rho : {1.0, 0.4})
      for (const bool intercept : {true, false}) {
        Table t = wide_table(150, 12, false);
        for (std::size_t i = 0; i < t.x.size(); ++i) {
          t.x[i][1] += 30;
          t.y[i] = 100 + 2 * t.x[i][0] - t.x[i][1] + noise * (t.y[i] - 2 * t.x[i][0] + t.x[i][1]);
          t.weight.push_back(i % 7 == 0 ? 0.0 : 1.0 + static_cast<double>(i % 3));
        }
        const Dataset data = make_dataset(t, false);
        SelectionOptions path;
        path.settings = sparse("squared", rho, 1);
        path.settings.intercept = intercept;
        path.settings.intercept_form = intercept ? InterceptForm::free : InterceptForm::by_default;
        path.settings.positive = noise == 1 && rho < 1;
        path.losses = {"squared"};
        path.settings.tolerance = 1e-6;
        for (int k = 0; k < 9; ++k) path.lambdas.push_back(3 * std::pow(0.3, k));
        const std::vector<Model> models = train_path(data, path, Progress());
        ASSERT_EQ(models.size(), path.lambdas.size());
        for (const Model& m : models) {
          Options alone = path.settings;
          alone.lambda = m.lambda;
          const Model one = train(data, alone, Progress());
          EXPECT_EQ(m.status, Status::optimal) << m.certificate.relative_gap;
          EXPECT_LE(m.certificate.lower, one.certificate.upper);
          EXPECT_LE(one.certificate.lower, m.certificate.upper);
          EXPECT_NEAR(m.certificate.failure, one.certificate.failure, 1e-3 * one.certificate.upper);
        }
      }
}

// Between bounds as well, which hold weights far beyond what the l1 norm would, and with a penalty factor for each feature: the
// certificate is as tight there.
TEST(ElasticNet, SquaredPathsWithBoundsAndFactorsReadTheRowsOnce) {
  const Table t = wide_table(200, 8, false);
  const Dataset data = make_dataset(t, false);
  const Progress progress;
  for (const double rho : {1.0, 0.4})
    for (int kind = 0; kind < 5; ++kind) {
      SelectionOptions path;
      path.settings = sparse("squared", rho, 1);
      path.settings.intercept_form = InterceptForm::free;
      for (int j = 0; j < t.dimensions(); ++j) {
        if (kind >= 3) path.settings.penalty_factor.push_back(0.02 + 0.7 * j);
        if (kind == 4) continue;
        path.settings.bounds.push_back(kind % 3 == 0 ? WeightRange{-0.05, 0.05}
                                       : kind == 1   ? WeightRange{0}
                                       : j < 2       ? WeightRange{0.01, 0.2}
                                                     : WeightRange{-0.3, 0.02});
      }
      path.losses = {"squared"};
      path.settings.tolerance = 1e-7;
      for (int k = 0; k < 7; ++k) path.lambdas.push_back(std::pow(0.3, k));
      const std::vector<Model> models = train_path(data, path, progress);
      for (const Model& m : models) {
        Options alone = path.settings;
        alone.lambda = m.lambda;
        const Model one = train(data, alone, progress);
        EXPECT_EQ(m.status, Status::optimal) << m.certificate.relative_gap;
        EXPECT_LE(m.certificate.lower, one.certificate.upper);
        EXPECT_LE(one.certificate.lower, m.certificate.upper);
        if (kind < 4) {
          EXPECT_LT((*m.prices - *one.prices).cwiseAbs().maxCoeff(), 1e-4 * (1 + one.prices->cwiseAbs().maxCoeff()));
        }
        const Problem p = make_problem(data, alone);
        ASSERT_TRUE(MomentCheck::serves(p));
        const MomentCheck check(p, progress);
        std::vector<double> w(m.weights.data(), m.weights.data() + m.weights.size());
        const double b = m.intercept[0] - p.target_center;
        const Certificate by_moments = check.certificate(w, b, p.lambda);
        EXPECT_LE(by_moments.relative_gap, 1e-7);
        EXPECT_LE(by_moments.lower, static_cast<double>(optimum_of(p).value));
        const std::vector<double> image = check.image(w, b);
        const Weights by_rows = image_of_rows(p, m.weights, Eigen::VectorXd::Constant(1, b), Weights(), progress);
        for (std::size_t j = 0; j < w.size(); ++j)
          EXPECT_NEAR(image[j], by_rows(0, static_cast<Eigen::Index>(j)), 1e-9 * (1 + std::fabs(image[j])));
        w[2] = kind == 1 ? -1e-9 : 0.06;
        if (kind == 4) continue;
        EXPECT_EQ(check.certificate(w, b, p.lambda).upper, infinity) << "a weight outside of its bounds";
      }
    }
}

TEST(ElasticNet, TheWorkingSetLosesNoFeatureThatTheOptimumHas) {
  for (const bool classes : {true, false}) {
    const Dataset data = make_dataset(wide_table(40, 700, classes), classes);
    SelectionOptions path;
    path.settings = sparse(classes ? "logistic" : "squared", 1, 1);
    path.settings.tolerance = 1e-9;
    path.losses = {path.settings.loss};
    const std::vector<Model> models = train_path(data, path, Progress());
    ASSERT_EQ(models.size(), 100U);
    EXPECT_EQ(models[0].weights.cwiseAbs().maxCoeff(), 0) << "at the largest lambda";
    EXPECT_GT(models[1].weights.cwiseAbs().maxCoeff(), 0) << "and not below it";
    EXPECT_NEAR(*models[99].lambda / *models[0].lambda, 1e-2, 1e-12) << "more features than rows";
    for (const std::size_t k : {5U, 40U, 80U, 99U}) {
      EXPECT_EQ(models[k].status, Status::optimal) << k;
      // Every feature, in the working set or not: the optimum's conditions.
      Options s = path.settings;
      s.lambda = models[k].lambda;
      const Problem p = make_problem(data, s);
      const Progress progress;
      const Columns columns(p.data, progress);
      ColumnRisk risk(p, columns, progress);
      risk.select(0);
      const std::vector<double> w(models[k].weights.data(), models[k].weights.data() + models[k].weights.size());
      risk.move(w, models[k].intercept[0] - p.target_center);
      risk.combine();
      std::size_t active = 0;
      for (std::size_t j = 0; j < w.size(); ++j) {
        EXPECT_LE(std::fabs(risk.sums()[j]), p.lambda * (1 + 1e-3)) << k << " " << j;
        if (w[j] == 0) continue;
        ++active;
        EXPECT_NEAR(risk.sums()[j], std::copysign(p.lambda, w[j]), 1e-3 * p.lambda) << k << " " << j;
      }
      EXPECT_GT(active, 0U);
      EXPECT_LE(active, 41U);
    }
  }
}

TEST(ElasticNet, ColumnsAndTheMatrixGiveTheSameMinimum) {
  Random random(9);
  for (int trial = 0; trial < 40; ++trial) {
    const std::size_t n = 12, m = 6;
    std::vector<std::vector<double>> x(m, std::vector<double>(n));
    std::vector<double> h(n);
    for (auto& column : x)
      for (double& v : column) v = normal(random);
    if (trial % 4 == 0) x[1] = x[0];
    for (double& v : h) v = random.uniform();
    std::vector<Row> columns;
    for (const auto& column : x) columns.push_back(dense_row(column.data(), static_cast<std::int32_t>(n)));
    columns.push_back({nullptr, nullptr, 0, false});
    x.emplace_back(n, 2.0);
    std::vector<double> matrix((m + 1) * 8, 0.0);
    for (std::size_t j = 0; j <= m; ++j)
      for (std::size_t k = 0; k <= m; ++k)
        for (std::size_t i = 0; i < n; ++i) matrix[j * 8 + k] += h[i] * x[j][i] * x[k][i];
    L1Coordinates q;
    for (std::size_t j = 0; j <= m; ++j) {
      q.z.push_back(trial % 2 == 0 ? 0 : std::max(0.0, normal(random)));
      q.g.push_back(3 * normal(random));
      q.l1.push_back(j < m ? 0.5 + random.uniform() : 0);
      q.l2.push_back(j < m && trial % 3 == 0 ? 0.1 : 0);
    }
    if (trial % 4 == 0) q.g[1] = q.g[0];  // else nothing would hold them
    // 0 and more, or between two ends that may leave 0 out.
    const bool bounded = trial % 5 < 2;
    for (std::size_t j = 0; bounded && j <= m; ++j) {
      const double low = j == m ? -infinity : trial % 5 == 0 ? 0 : 0.3 * normal(random);
      q.low.push_back(low);
      q.high.push_back(j == m || trial % 5 == 0 ? infinity : low + 0.5 * random.uniform());
      q.z[j] = std::clamp(q.z[j], q.low[j], q.high[j]);
    }
    L1Coordinates by_matrix = q, by_columns = q;
    solve_with_matrix(by_matrix, matrix.data(), 8, 1e-16, Progress());
    solve_with_columns(by_columns, columns, h, 2.0, 1e-22, Progress());
    const auto value = [&](const L1Coordinates& at) {
      double sum = 0;
      for (std::size_t j = 0; j <= m; ++j) {
        sum += q.g[j] * (at.z[j] - q.z[j]) + q.l1[j] * std::fabs(at.z[j]) + q.l2[j] / 2 * at.z[j] * at.z[j];
        for (std::size_t k = 0; k <= m; ++k) sum += matrix[j * 8 + k] / 2 * (at.z[j] - q.z[j]) * (at.z[k] - q.z[k]);
        if (bounded) {
          EXPECT_GE(at.z[j], q.low[j]);
          EXPECT_LE(at.z[j], q.high[j]);
        }
      }
      return sum;
    };
    EXPECT_NEAR(value(by_matrix), value(by_columns), 1e-9 * (1 + std::fabs(value(by_matrix)))) << trial;
  }
}

// A coordinate at its end whose own slope leads back, and which Newton's direction would take beyond it: the others move.
TEST(ElasticNet, AStepOnAFaceIsNotHeldByACoordinateAtItsEnd) {
  const double h[] = {1, 0.9, 0.9, 1};
  L1Coordinates at;
  at.z = {0, 0};
  at.g = {0.1, 1};
  at.l1 = at.l2 = {0, 0};
  at.low = {-5, -5};
  at.high = {0, 5};
  FaceSteps face;
  EXPECT_FALSE(face.step(at, h, 2, Progress())) << "the minimum of the face without it";
  EXPECT_EQ(at.z[0], 0);
  EXPECT_DOUBLE_EQ(at.z[1], -1);
  solve_with_matrix(at, h, 2, 1e-20, Progress());
  EXPECT_EQ(at.z[0], 0);
  EXPECT_DOUBLE_EQ(at.z[1], -1) << "the first slope is -0.8 there: it stays";
}

TEST(ElasticNet, SeveralClassesSparseRowsAndAStart) {
  Random random(10);
  const Table t = make_table(random, 0, true, 3);
  const Dataset dense = make_dataset(t, true, 3);
  Dataset thin(Dataset::Outcome::classes);
  for (int c = 0; c < 3; ++c) thin.classes().intern(std::to_string(c), c);
  std::vector<std::int32_t> columns(static_cast<std::size_t>(t.dimensions()));
  for (std::size_t j = 0; j < columns.size(); ++j) columns[j] = 40 * static_cast<std::int32_t>(j);
  for (std::size_t i = 0; i < t.x.size(); ++i)
    thin.append(sparse_row(columns.data(), t.x[i].data(), t.dimensions(), 2000), testing::label_of(thin, t.y[i]), 1.0);
  const Options s = sparse("logistic", 1, 0.01);
  const Model a = train(dense, s, Progress()), b = train(thin, s, Progress());
  EXPECT_EQ(a.status, Status::optimal);
  EXPECT_EQ(b.status, Status::optimal);
  EXPECT_EQ(a.outputs(), 3);
  EXPECT_NEAR(a.certificate.upper, b.certificate.upper, 1e-6 * a.certificate.upper);
  Options again = s;
  again.initial = InitialModel{};
  again.initial->weights.assign(a.weights.data(), a.weights.data() + a.weights.size());
  again.initial->intercept.assign(a.intercept.data(), a.intercept.data() + a.intercept.size());
  const Model warm = train(dense, again, Progress());
  EXPECT_EQ(warm.iterations, 0);
  EXPECT_EQ(warm.status, Status::optimal);
  again.initial->weights.pop_back();
  EXPECT_THROW(train(dense, again, Progress()), Error);
  // Penalties by the number of a feature, also where columns without a value are left out.
  Options named = s, listed = s;
  named.named_penalty_factor["1"] = 5;
  listed.penalty_factor.assign(static_cast<std::size_t>(t.dimensions()), 1.0);
  listed.penalty_factor[0] = 5;
  EXPECT_NEAR(train(thin, named, Progress()).certificate.upper, train(dense, listed, Progress()).certificate.upper,
              1e-6 * a.certificate.upper);
}

TEST(ElasticNet, StoredModelsAreVerified) {
  Random random(11);
  for (int trial = 0; trial < 6; ++trial) {
    Case c = random_case(random, trial % 2 == 0 ? "logistic" : "huber", trial);
    c.table.weight.clear();
    c.options.dual_weights = true;
    const bool classes = trial % 2 == 0;
    const Dataset data = make_dataset(c.table, classes);
    const Model model = train(data, c.options, Progress());
    Verification verification(model, c.options, true);
    for (std::int64_t i = 0; i < data.rows(); ++i)
      if (classes)
        verification.add(data.row(i), data.class_of(i), -1);
      else
        verification.add(data.row(i), data.target(i), data.target(i), -1);
    const VerifiedModel found = verification.result(Progress());
    EXPECT_NEAR(*found.primal, model.certificate.upper, 1e-12 * model.certificate.upper) << trial;
    EXPECT_NEAR(*found.dual, model.certificate.lower, 1e-9 * model.certificate.upper) << trial;
    EXPECT_EQ(found.certain.has_value(), classes && c.options.l1_ratio < 1 && !c.options.free_intercept()) << trial;
  }
}

/// Counts: the loss is smooth, though its slope is not Lipschitz.
TEST(ElasticNet, TakesCounts) {
  Random random(31);
  for (int k = 0; k < 40; ++k) {
    Table t;
    const int n = 20 + static_cast<int>(random.below(60)), d = 2 + static_cast<int>(random.below(6));
    for (int i = 0; i < n; ++i) {
      t.x.emplace_back();
      for (int j = 0; j < d; ++j) t.x.back().push_back(normal(random));
      t.y.push_back(std::floor(std::exp(std::min(3.0, t.x.back()[0])) * 3 * random.uniform()));
    }
    t.y[0] = 2;
    for (const double ratio : {0.5, 0.9, 1.0}) {
      Options s = sparse("poisson", ratio, std::pow(10, -4 * random.uniform()));
      s.intercept_form = InterceptForm::free;
      const Dataset data = make_dataset(t, false);
      const Model model = train(data, s, Progress());
      EXPECT_EQ(model.solver, "prox_newton");
      EXPECT_EQ(model.status, Status::optimal)
          << k << " " << ratio << " " << model.certificate.lower << " " << model.certificate.upper;
      if (k > 3) continue;
      SelectionOptions path;
      path.settings = s;
      path.settings.lambda.reset();
      path.losses = {"poisson"};
      path.lambdas = {0.1, 0.01, 0.001};
      for (const Model& m : train_path(data, path, Progress()))
        EXPECT_EQ(m.status, Status::optimal) << k << " " << ratio;
      s.offset = "1";
      EXPECT_EQ(train(data, s, Progress()).status, Status::optimal) << k << " " << ratio;
    }
  }
}

TEST(ElasticNet, RefusesWhatItCannotSolve) {
  Random random(12);
  const Dataset data = make_dataset(make_table(random, 0, true), true);
  const auto message = [&](Options s) {
    try {
      train(data, s, Progress());
    } catch (const Error& e) {
      return e.message() + " " + e.hint();
    }
    return std::string();
  };
  Options hinge = sparse("hinge", 1, 0.1);
  EXPECT_NE(message(hinge).find("needs a smooth loss"), std::string::npos);
  hinge.l1_ratio = 0.5;
  EXPECT_EQ(message(hinge), "");
  Options penalised = sparse("logistic", 1, 0.1);
  penalised.intercept_form = InterceptForm::penalized;
  EXPECT_NE(message(penalised).find("l1_ratio below 1"), std::string::npos);
  Options ridge = sparse("logistic", 0, 0.1);
  ridge.solver = "prox_newton";
  EXPECT_NE(message(ridge).find("it lacks the option l1_ratio"), std::string::npos);
  Options ascent = sparse("logistic", 1, 0.1);
  ascent.solver = "sdca";
  EXPECT_NE(message(ascent).find("prox_newton"), std::string::npos) << message(ascent);
  Options factors = sparse("logistic", 1, 0.1);
  factors.penalty_factor = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  EXPECT_NE(message(factors).find("has 9 factors"), std::string::npos);
  factors.penalty_factor.clear();
  factors.named_penalty_factor["77"] = 2;
  EXPECT_NE(message(factors).find("names feature 77"), std::string::npos);
  factors.named_penalty_factor = {{"age", 2}};
  EXPECT_NE(message(factors).find("have numbers only"), std::string::npos);
}

TEST(ElasticNet, PathsWithoutAnythingToFind) {
  Table t;
  for (int i = 0; i < 6; ++i) {
    t.x.push_back({0.0, 0.0});
    t.y.push_back(i % 2);
  }
  SelectionOptions path;
  path.settings = sparse("logistic", 1, 1);
  path.losses = {"logistic"};
  const std::vector<Model> models = train_path(make_dataset(t, true), path, Progress());
  ASSERT_EQ(models.size(), 1U);
  EXPECT_EQ(models[0].status, Status::optimal);
}

/// Where the penalty hardly has an l1 part, no lambda makes all weights 0.
TEST(ElasticNet, AnL1RatioNearNothingEnds) {
  const Dataset data = make_dataset(wide_table(60, 8, true), true);
  for (const double ratio : {5e-324, 1e-300, 1e-12}) {
    Options s = sparse("squared_hinge", ratio, 0.1);
    s.solver = "prox_newton";
    EXPECT_EQ(train(data, s, Progress()).status, Status::optimal) << ratio;
    SelectionOptions path;
    path.settings = s;
    path.settings.max_iterations = 3;
    path.losses = {s.loss};
    EXPECT_EQ(train_path(data, path, Progress()).size(), 100U) << ratio;
  }
}

class Cancelled final : public Progress {
 public:
  void poll() const override {
    if (++polls_ > 3) throw std::runtime_error("cancelled");
  }

 private:
  mutable int polls_ = 0;
};

TEST(ElasticNet, HearsACancel) {
  const Dataset data = make_dataset(wide_table(300, 900, true), true);
  SelectionOptions path;
  path.settings = sparse("logistic", 1, 1);
  path.losses = {"logistic"};
  EXPECT_THROW(train_path(data, path, Cancelled()), std::runtime_error);
}

}  // namespace
}  // namespace margin
