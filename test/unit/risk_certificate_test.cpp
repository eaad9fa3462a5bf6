// The certificate of a regularised risk: true for any pair of vectors, also in floating point, and independent of any
// solver.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/certificate/ball.hpp"
#include "core/certificate/risk.hpp"
#include "core/train/train.hpp"
#include "risk_problems.hpp"

namespace margin {
namespace {

using testing::make_dataset;
using testing::make_table;
using testing::normal;
using testing::Table;

Options soft(const std::string& loss, double lambda) {
  Options s;
  s.loss = loss;
  s.lambda = lambda;
  s.epsilon = 0.2;
  s.smoothing = 0.6;
  s.quantile = 0.8;
  s.intercept_form = InterceptForm::penalized;
  return s;
}

/// P and D as certificate/risk.hpp defines them, in long double and without any cleverness.
struct Exact {
  long double primal = 0, dual = 0;
};
Exact exact(const Problem& p, const Weights& w, const Eigen::VectorXd& b, const Weights& a) {
  Exact e;
  const long double scale = p.intercept ? p.intercept_scale : 0, rho = p.l1_ratio, lambda = p.lambda;
  long double total = 0;
  for (std::int64_t i = 0; i < p.rows(); ++i) total += p.data.weight(i);
  for (std::int32_t o = 0; o < p.outputs(); ++o) {
    std::vector<long double> v(static_cast<std::size_t>(p.dimensions()), 0.0L);
    long double vb = 0, squares = 0, absolute = 0, dual_squares = 0, dual = 0;
    for (std::int64_t i = 0; i < p.rows(); ++i) {
      const Row x = p.data.row(i);
      long double u = p.intercept ? b[o] : 0.0;
      for (std::int32_t k = 0; k < x.count; ++k) {
        const std::int32_t j = x.indices != nullptr ? x.indices[k] : k;
        u += static_cast<long double>(x.value(k)) * w(o, j);
        v[static_cast<std::size_t>(j)] += static_cast<long double>(p.weight(i)) * a(i, o) * x.value(k) / total;
      }
      const double y = p.target(i, o);
      // A loss is evaluated in double at the rounded score; its own rounding is part of what is to be covered.
      e.primal += p.weight(i) * static_cast<long double>(p.loss->value(static_cast<double>(u), y)) / total;
      if (p.weight(i) > 0) dual -= p.weight(i) * static_cast<long double>(p.loss->conjugate(a(i, o), y)) / total;
      vb += scale * p.weight(i) * a(i, o) / total;
    }
    for (std::int32_t j = 0; j < p.dimensions(); ++j) {
      squares += static_cast<long double>(w(o, j)) * w(o, j);
      absolute += std::fabs(w(o, j));
      const long double s = std::max(0.0L, std::fabs(v[static_cast<std::size_t>(j)]) - lambda * rho);
      dual_squares += s * s;
    }
    if (scale > 0) squares += (b[o] / scale) * (b[o] / scale);
    e.primal += lambda * ((1 - rho) / 2 * squares + rho * absolute);
    dual -= (dual_squares + vb * vb) / (2 * lambda * (1 - rho));
    e.dual += std::max(dual, 0.0L);  // of each output, a = 0 is the alternative
  }
  return e;
}

class RiskCertificate : public ::testing::TestWithParam<std::string> {};

TEST_P(RiskCertificate, EnclosesTheExactValues) {
  Random random(11);
  const bool classes = !is_regression_loss(GetParam());
  for (int trial = 0; trial < 200; ++trial) {
    Options s = soft(GetParam(), std::pow(10.0, 8 * random.uniform() - 6));
    s.intercept = trial % 2 == 0;
    s.intercept_scale = 1 + 3 * random.uniform();
    s.l1_ratio = trial % 3 == 0 ? 0.4 : 0.0;
    const int number = classes && trial % 5 == 0 ? 3 : 2;
    Table t = testing::labels_for(GetParam(), make_table(random, trial % 8, classes, number));
    if (trial % 4 == 0)
      for (int i = 0; i < t.rows(); ++i) t.weight.push_back(random.below(4) == 0 ? 0.0 : 3 * random.uniform());
    // Cancellation: large parts that nearly vanish in the scores and in Σ a x.
    if (trial % 7 == 0 && GetParam() != "poisson")  // e^u of scores that far is none
      for (auto& x : t.x)
        for (double& v : x) v = 1e7 * (v > 0 ? 1 : -1) + v;
    const Dataset data = make_dataset(t, classes, number);
    const Problem p = make_problem(data, s);
    Weights w(p.outputs(), p.dimensions()), a(p.rows(), p.outputs());
    Eigen::VectorXd b(p.outputs());
    for (std::int32_t o = 0; o < p.outputs(); ++o) {
      b[o] = normal(random);
      for (std::int32_t j = 0; j < p.dimensions(); ++j) w(o, j) = normal(random);
      for (std::int64_t i = 0; i < p.rows(); ++i) a(i, o) = p.loss->project(normal(random), p.target(i, o));
    }
    const Certificate c = certify(p, w, b, a);
    const Exact e = exact(p, w, b, a);
    EXPECT_GE(static_cast<long double>(c.upper), e.primal) << trial;
    EXPECT_LE(static_cast<long double>(c.lower), e.dual) << trial;
    EXPECT_LE(static_cast<double>(c.upper - e.primal), 1e-8 * c.upper) << "the allowance must stay small, " << trial;
    EXPECT_GE(c.lower, static_cast<double>(e.dual) - 1e-8 * c.upper) << trial;
    EXPECT_GE(c.gap, 0);
  }
}

TEST_P(RiskCertificate, GapIsSoundOnRandomProblems) {
  // Random pairs around the optimum of an independent solver: dual ≤ P* ≤ primal always.
  Random random(23);
  const bool classes = !is_regression_loss(GetParam());
  int converged = 0;
  const int trials = make_loss(GetParam(), {})->log_link() ? 16 : 80;  // where the independent solver is slow
  for (int trial = 0; trial < trials; ++trial) {
    Options s = soft(GetParam(), std::pow(10.0, 5 * random.uniform() - 4));
    s.intercept = trial % 2 == 0;
    s.l1_ratio = trial % 3 == 0 ? 0.3 : 0.0;
    const Table t = testing::labels_for(GetParam(), make_table(random, trial % 8, classes));
    const Dataset data = make_dataset(t, classes);
    const Problem p = make_problem(data, s);
    std::vector<double> y;
    for (std::int64_t i = 0; i < p.rows(); ++i) y.push_back(p.target(i, 0));
    const testing::Reference reference = testing::solve_reference(t, y, std::vector<double>(y.size(), 1.0),
                                                                  static_cast<double>(y.size()), GetParam(), s, 100000);
    const double size = std::max(std::fabs(reference.primal), 1e-300);
    converged += reference.primal - reference.dual <= 1e-9 * size;

    Weights w(1, p.dimensions()), a(p.rows(), 1);
    for (int move = 0; move < 5; ++move) {
      const double reach = move == 0 ? 0.0 : std::pow(10.0, -2.0 * move);
      for (std::int32_t j = 0; j < p.dimensions(); ++j)
        w(0, j) = reference.w[static_cast<std::size_t>(j)] + reach * normal(random);
      Eigen::VectorXd b(1);
      b[0] = reference.b + (s.intercept ? reach * normal(random) : 0.0);
      for (std::int64_t i = 0; i < p.rows(); ++i) {
        const double u = dot(p.data.row(i), w.data()) + b[0];
        a(i, 0) = p.loss->project(-p.loss->derivative(u, y[static_cast<std::size_t>(i)]) + reach * normal(random),
                                  y[static_cast<std::size_t>(i)]);
      }
      std::shared_ptr<const DualPoint> point;
      const Certificate c = certify(p, w, b, a, nullptr, {}, &point);
      ASSERT_NE(point, nullptr);
      EXPECT_GE(c.upper, reference.dual) << trial << " " << move;
      EXPECT_LE(c.lower, reference.primal) << trial << " " << move;
      EXPECT_GE(c.upper - c.lower, c.upper - reference.primal);
      // The optimum lies within the promised distance (the reference itself only within its own).
      double square = 0;
      for (std::int32_t j = 0; j < p.dimensions(); ++j) {
        const double v = w(0, j) - reference.w[static_cast<std::size_t>(j)];
        square += v * v;
      }
      square += (b[0] - reference.b) * (b[0] - reference.b) / (s.intercept_scale * s.intercept_scale);
      const double off =
          std::sqrt(2 * std::max(0.0, reference.primal - reference.dual) / (*s.lambda * (1 - s.l1_ratio)));
      Ball ball(objective_of(p), w.data(), s.intercept ? b.data() : nullptr, c.gap,
                move % 2 == 0 ? point.get() : nullptr);
      EXPECT_LE(std::sqrt(square), ball.distance() + off + 1e-9) << trial << " " << move;
      std::int64_t same = 0, certain_rows = 0;
      for (std::int64_t i = 0; i < p.rows(); ++i) {
        double u = reference.b;
        for (std::int32_t j = 0; j < p.dimensions(); ++j)
          u += reference.w[static_cast<std::size_t>(j)] * t.x[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
        same += (u > 0) == (dot(p.data.row(i), w.data()) + b[0] > 0);
        certain_rows += ball.certain(p.data.row(i));
      }
      if (classes && off < 1e-6) {
        EXPECT_LE(certain_rows, same) << trial << " " << move;
      }
    }
  }
  EXPECT_GE(converged, trials * 9 / 10) << "the reference must be an optimum nearly always";
}

TEST_P(RiskCertificate, MergesLikeOneScan) {
  Random random(31);
  const bool classes = !is_regression_loss(GetParam());
  const Table t = testing::labels_for(GetParam(), make_table(random, 0, classes));
  const Dataset data = make_dataset(t, classes);
  Options s = soft(GetParam(), 0.01);
  const Problem p = make_problem(data, s);
  Weights w = Weights::Constant(1, p.dimensions(), 0.3), a(p.rows(), 1);
  Eigen::VectorXd b = Eigen::VectorXd::Constant(1, -0.2);
  for (std::int64_t i = 0; i < p.rows(); ++i) a(i, 0) = p.loss->project(0.1 * normal(random), p.target(i, 0));
  const Objective objective = objective_of(p);
  RiskCheck whole(objective, w.data(), b.data(), true), worker = whole;
  RiskCheck left(objective, w.data(), b.data(), false), right = left;
  for (std::int64_t i = 0; i < p.rows(); ++i) {
    CheckedRow row = checked_row(p, i);
    row.dual = a.row(i).data();
    whole.add(row);
    (i % 3 == 0 ? left : right).add(row);
  }
  EXPECT_TRUE(left.merge(right.state()));
  EXPECT_NEAR(left.primal(), whole.primal(), 1e-12 * whole.primal());
  EXPECT_EQ(left.dual(), 0);
  EXPECT_EQ(left.rows(), whole.rows());
  EXPECT_EQ(left.errors(), whole.errors());
  EXPECT_FALSE(left.merge({1, 0, 1, 1}));
  EXPECT_FALSE(left.merge(std::vector<double>(whole.state().size(), -1)));
  EXPECT_TRUE(worker.merge(whole.state()));
  EXPECT_NEAR(worker.primal(), whole.primal(), 1e-12 * whole.primal());
  EXPECT_EQ(worker.dual(), 0);
  EXPECT_EQ(worker.total_weight(), static_cast<double>(p.rows()));
}

TEST_P(RiskCertificate, SurvivesHostileDuals) {
  Random random(41);
  const bool classes = !is_regression_loss(GetParam());
  const Table t = testing::labels_for(GetParam(), make_table(random, 0, classes));
  const Dataset data = make_dataset(t, classes);
  const Problem p = make_problem(data, soft(GetParam(), 0.1));
  const Weights w = Weights::Zero(1, p.dimensions());
  const Eigen::VectorXd b = Eigen::VectorXd::Zero(1);
  const double at_zero = certify(p, w, b, Weights()).upper;
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  for (const double value : {nan, inf, -inf, 1e300, -1e300, 1e9, -1e9}) {
    const Certificate c = certify(p, w, b, Weights::Constant(p.rows(), 1, value));
    EXPECT_EQ(c.upper, at_zero);
    EXPECT_GE(c.lower, 0) << value;
    EXPECT_LE(c.lower, c.upper) << value;
    EXPECT_FALSE(std::isnan(c.relative_gap));
  }
  EXPECT_EQ(certify(p, w, b, Weights()).lower, 0);
  const Certificate lost = certify(p, Weights::Constant(1, p.dimensions(), nan), b, Weights());
  EXPECT_EQ(lost.relative_gap, inf);
}

INSTANTIATE_TEST_SUITE_P(All, RiskCertificate,
                         ::testing::ValuesIn(std::vector<std::string>(loss_names().begin(), loss_names().end())),
                         [](const auto& info) { return info.param; });

/// A training adds its rows together, compiled per loss; verification one by one. The numbers are the same.
TEST(RiskRows, together_give_the_bits_of_rows_one_by_one) {
  Random random(91);
  for (const std::string_view loss : loss_names())
    for (const bool with_dual : {false, true}) {
      const bool classes = !is_regression_loss(loss);
      Objective objective;
      objective.task = classes ? Task::binary : Task::regression;
      objective.dimensions = 3;
      const Options options = soft(std::string(loss), 0.1);
      const auto made = make_loss(loss, options);
      objective.loss = made;
      objective.lambda = 0.1;
      const double weights[] = {0.3, -0.2, 0.7}, intercept = 0.1;
      constexpr std::size_t n = 150;  // more than a part of them
      std::vector<double> x(3 * n), dual(n);
      std::vector<CheckedRow> rows(n);
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < 3; ++j) x[3 * i + j] = i == 7 ? 0 : normal(random);
        rows[i].x = dense_row(x.data() + 3 * i, 3);
        rows[i].label = static_cast<std::int32_t>(random.below(2));
        rows[i].target = std::fabs(normal(random));
        rows[i].loss_weight = i % 11 == 0 ? 0 : 1 + random.uniform();
        dual[i] = i % 5 == 0 ? 0 : i == 23 ? std::numeric_limits<double>::quiet_NaN() : normal(random);
        if (with_dual) rows[i].dual = &dual[i];
      }
      RiskCheck together(objective, weights, &intercept, with_dual), alone(objective, weights, &intercept, with_dual);
      together.add_all(rows.data(), n);
      for (const CheckedRow& row : rows) alone.add(row);
      EXPECT_EQ(together.state(), alone.state()) << loss;
      EXPECT_EQ(together.support(), alone.support()) << loss;
      EXPECT_EQ(together.primal(), alone.primal()) << loss;
      EXPECT_EQ(together.dual(), alone.dual()) << loss;
      if (with_dual && loss != "poisson") {
        EXPECT_GT(together.support(), 0) << loss;
      }
    }
}

TEST(RiskCertificateOfManyRows, StaysTight) {
  // The allowance for the rounding of sums grows with the blocks, not with the rows.
  Dataset data(Dataset::Outcome::classes);
  data.classes().intern("0", 0);
  data.classes().intern("1", 1);
  Random random(3);
  const int n = 200000;
  for (int i = 0; i < n; ++i) {
    const double x[2] = {100 + random.uniform(), random.uniform()};
    data.append(dense_row(x, 2), i % 2);
  }
  const Problem p = make_problem(data, soft("hinge", 1));
  Weights a(n, 1);
  for (int i = 0; i < n; ++i) a(i, 0) = i % 2 == 1 ? 1.0 : -1.0;
  const Weights w = Weights::Zero(1, 2);
  const Certificate c = certify(p, w, Eigen::VectorXd::Zero(1), a);
  const Exact e = exact(p, w, Eigen::VectorXd::Zero(1), a);
  EXPECT_LE(static_cast<long double>(c.lower), e.dual);
  EXPECT_NEAR(c.lower, static_cast<double>(e.dual), 1e-9);
  EXPECT_EQ(c.support, n);
}

/// A time in milliseconds as a column: rounding is bounded by columns, not by the length of the rows.
TEST(RiskCertificateOfLongRows, MeetsTheDefaultTolerance) {
  Random random(5);
  for (const bool classes : {true, false}) {
    testing::Table t;
    for (int i = 0; i < 400; ++i) {
      const double a = testing::normal(random), b = testing::normal(random), share = random.uniform(),
                   time = std::floor(1.7e12 + 3e10 * share),
                   score = a - b / 2 + testing::normal(random) / 2 + 3 * share;
      t.x.push_back({a, b, time});
      t.y.push_back(!classes ? score : i < 2 ? i : score > 1.5 ? 1 : 0);
    }
    const Dataset data = testing::make_dataset(t, classes);
    for (const std::string loss : {"hinge", "logistic", "absolute", "huber"})
      for (const int form : {0, 1, 2})
        for (const double lambda : {1e-1, 1e-2, 1e-4}) {
          if (is_regression_loss(loss) == classes) continue;
          Options s = soft(loss, lambda);
          s.intercept = form != 2;
          s.intercept_form = form == 0 ? InterceptForm::free : InterceptForm::by_default;
          const Problem p = make_problem(data, s);
          const Solution found = choose_solver(p, s).solve(p, s, Progress());
          const Certificate c = certify(p, found.weights, found.intercept, found.dual);
          EXPECT_LE(c.relative_gap, 1e-3) << loss << form << " " << lambda << " " << c.lower << " " << c.upper;
          // exact() penalises the intercept, and its 64 bits leave 1e-12 of sums of 1e14.
          if (form == 0) continue;
          const Exact e = exact(p, found.weights, found.intercept, found.dual);
          EXPECT_GE(c.upper, static_cast<double>(e.primal) * (1 - 1e-12)) << loss << form << " " << lambda;
          EXPECT_LE(c.lower, static_cast<double>(e.dual) * (1 + 1e-8)) << loss << form << " " << lambda;
        }
  }
}

/// The second pass is made where the gap of the first is more than enough, and where rounding takes much of it.
TEST(RiskCertificateOfShortRows, IsSummedPreciselyWhereTheGapIsMoreThanEnough) {
  Random random(5);
  testing::Table t;
  for (int i = 0; i < 400; ++i) {
    const double a = testing::normal(random), share = random.uniform();
    t.x.push_back({a, 20 * share});
    t.y.push_back(i < 2 ? i : a + testing::normal(random) / 2 + 3 * share > 1.5 ? 1 : 0);
  }
  const Dataset data = testing::make_dataset(t, true);
  Options s = soft("logistic", 1e-2);
  s.tolerance = 1e-14;  // of the solver
  const Problem p = make_problem(data, s);
  const Solution found = choose_solver(p, s).solve(p, s, Progress());
  const auto certificate = [&](double enough) {
    return certify(p, found.weights, found.intercept, found.dual, nullptr, {}, nullptr, enough);
  };
  const Certificate once = certificate(1), twice = certificate(0);
  EXPECT_GT(once.gap, 1.1 * twice.gap);
  EXPECT_LE(once.lower, twice.lower);
  EXPECT_GE(once.upper, twice.upper);
  EXPECT_EQ(certificate(1.01 * once.relative_gap).gap, once.gap);
  EXPECT_EQ(certificate(0.99 * once.relative_gap).gap, twice.gap);
}

/// Times in milliseconds within a year, a month, a day and an hour: beside a free intercept solvers get them from the first row.
TEST(RiskCertificateOfLongRows, FreeInterceptsFindTimesWithinAnHour) {
  for (const double range : {3e10, 2.6e9, 8.64e7, 3.6e6})
    for (const bool classes : {true, false}) {
      Random random(7);
      testing::Table t;
      for (int i = 0; i < 400; ++i) {
        const double a = testing::normal(random), b = testing::normal(random), share = random.uniform(),
                     score = a - b / 2 + testing::normal(random) / 2 + 3 * share;
        t.x.push_back({a, b, std::floor(1.7e12 + range * share)});
        t.y.push_back(!classes ? score : i < 2 ? i : score > 1.5 ? 1 : 0);
      }
      const Dataset data = testing::make_dataset(t, classes);
      for (const std::string_view loss : loss_names())
        for (const double lambda : {1e-1, 1e-2, 1e-4}) {
          if (is_regression_loss(loss) == classes || loss == "poisson") continue;
          Options s = soft(std::string(loss), lambda);
          s.intercept_form = InterceptForm::free;
          const Model model = train(data, s, Progress());
          EXPECT_EQ(model.status, Status::optimal) << loss << " " << range << " " << lambda << " "
                                                   << model.certificate.lower << " " << model.certificate.upper;
        }
    }
}

/// Rows of equal dual value, known by their sums alone.
TEST(RiskCertificate, ReplacesTheDualValuesOfAGroup) {
  Random random(101);
  for (const char* const name : {"hinge", "absolute", "epsilon_insensitive", "quantile"})
    for (int trial = 0; trial < 40; ++trial) {
      const bool classes = std::string(name) == "hinge";
      const Table t = testing::labels_for(name, make_table(random, trial % 8, classes));
      const Dataset data = make_dataset(t, classes);
      const Problem p = make_problem(data, soft(name, 0.1));
      const std::int32_t d = p.dimensions();
      Weights w(1, d);
      for (std::int32_t j = 0; j < d; ++j) w(0, j) = normal(random);
      const double b[] = {0.25};
      // Half of the rows, those of one target where there are classes, go from `before` to `after`.
      const auto in_group = [&](std::int64_t i) { return classes ? p.target(i, 0) > 0 : i % 2 == 0; };
      // To or from 0 they come to be of the support, or leave it.
      const double before = trial % 3 == 1 ? 0 : p.loss->project(0.5, 1),
                   after = trial % 3 == 2 ? 0 : p.loss->project(0.15, 1);
      RiskCheck replaced({p, d}, w.data(), b, true), known({p, d}, w.data(), b, true),
          of_no_length({p, d}, w.data(), b, true), of_no_targets({p, d}, w.data(), b, true);
      RiskCheck::Alike alike{0, 0, 0};
      std::vector<double> x(static_cast<std::size_t>(d), 0.0);
      double weight = 0, target = 0, other = 0.0;
      for (std::int64_t i = 0; i < p.rows(); ++i) {
        CheckedRow row = checked_row(p, i);
        const bool in = in_group(i);
        row.dual = in ? &before : &other;
        replaced.add(row);
        of_no_length.add(row);
        of_no_targets.add(row);
        row.dual = in ? &after : &other;
        known.add(row);
        if (!in) continue;
        const double c = row.loss_weight, y = p.target(i, 0);
        ++alike.rows;
        weight += c;
        margin::add(c, row.x, x.data());
        target += c * y;
        alike.length += c * norm(row.x);
        alike.target_size += c * std::fabs(y);
      }
      if (!(weight > 0)) continue;
      for (double& v : x) v /= weight;
      for (double* const v : {&target, &alike.length, &alike.target_size}) *v /= weight;
      CheckedRow mean{};
      mean.x = dense_row(x.data(), d);
      mean.label = classes ? 1 : -1;
      mean.target = target;
      mean.loss_weight = weight;
      replaced.replace_duals(mean, alike, 0, before, after);
      of_no_length.replace_duals(mean, {alike.rows, 0, alike.target_size}, 0, before, after);
      of_no_targets.replace_duals(mean, {alike.rows, alike.length, 0}, 0, before, after);
      EXPECT_EQ(replaced.support(), known.support());
      const double wanted = known.dual(0), found = replaced.dual(0);
      EXPECT_NEAR(found, wanted, 1e-9 * (1 + std::fabs(wanted))) << name << ", trial " << trial;
      // What the sums may err by is charged.
      if (!(found > 0)) continue;
      if (alike.length > 0) {
        EXPECT_LT(found, of_no_length.dual(0)) << name << ", trial " << trial;
      }
      if (alike.target_size > 0) {
        EXPECT_LT(found, of_no_targets.dual(0)) << name << ", trial " << trial;
      }
    }
}

}  // namespace
}  // namespace margin
