// l1 margins: the linear program against HiGHS and against enumerated vertices, the rounds against the theorems of
// Telgarsky (2013), both against the certificate.
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/solvers/l1_margin/rounds.hpp"
#include "core/solvers/l1_margin/stump_learners.hpp"
#include "margin_problems.hpp"

namespace margin {
namespace {

using namespace reference;

#include "l1_margins.inc"

Options l1(const std::string& solver, bool intercept, double tolerance) {
  Options s = hard(solver, intercept, tolerance);
  s.norm = 1;
  return s;
}

/// The problems of test/unit/l1_margins.py, number by number.
Rows stored_problem(std::uint64_t seed) {
  Random random(seed);
  const auto grid = [&] { return (static_cast<double>(random.below(2048)) - 1024) / 1024; };
  const int n = 10 + static_cast<int>(random.below(60)), d = 2 + static_cast<int>(random.below(30));
  std::vector<double> plane(at(d));
  for (double& w : plane) w = grid();
  Rows rows;
  for (int i = 0; i < n; ++i) {
    std::vector<double> x(at(d));
    for (double& v : x) v = grid();
    for (double& v : x) {
      if (seed % 4 == 1) v = v > 0 ? 1 : -1;
      if (seed % 4 == 2 && random.below(2) == 0) v = 0;
    }
    if (i < 2)
      for (int j = 0; j < d; ++j) x[at(j)] = i == 1 ? plane[at(j)] : -plane[at(j)];
    double score = 0;
    for (int j = 0; j < d; ++j) score += plane[at(j)] * x[at(j)];
    rows.add(x, (score > 0.125) != (seed % 5 == 0 && i == 2) ? 1 : 0);
  }
  return rows;
}

TEST(L1Margin, agrees_with_a_linear_program_of_HiGHS) {
  for (const auto& stored : random_margins)
    for (const bool intercept : {true, false}) {
      SCOPED_TRACE("seed " + std::to_string(stored.seed) + (intercept ? " with intercept" : " without"));
      const Rows rows = stored_problem(stored.seed);
      const double expected = intercept ? stored.with_intercept : stored.without_intercept;
      for (const Storage storage : {Storage::doubles, Storage::sparse}) {
        const Model m = fit(make_dataset(rows, storage), l1("auto", intercept, 1e-9));
        EXPECT_LE(m.certificate.lower, expected * (1 + 1e-9) + 1e-14);
        EXPECT_GE(m.certificate.upper, expected * (1 - 1e-9));
        EXPECT_EQ(m.status, expected > 0 ? Status::optimal : Status::not_separable);
        if (expected > 0) {
          EXPECT_EQ(m.solver, "linear_program");
        }
      }
    }
}

/// Rows of more features than the linear program looks at from the start, some of the entries 0. The first row of each
/// class is told by each of the `decoys` first features, the others by none of these.
Rows wide_problem(int n, int d, int decoys) {
  Random random(7);
  Rows rows;
  bool told[2] = {false, false};
  for (int i = 0; i < n; ++i) {
    const int label = static_cast<int>(random.below(2));
    std::vector<double> x(at(d));
    for (int j = 0; j < d; ++j) {
      const double value = random.below(3) == 0 ? 0.0 : (static_cast<double>(random.below(2048)) - 1024) / 2048;
      x[at(j)] = j >= decoys ? value : !told[label] ? 2.0 * label - 1 : 0.0;
    }
    told[label] = true;
    rows.add(x, label);
  }
  return rows;
}

TEST(L1Margin, features_are_taken_in_until_all_agree_on_the_margin) {
  for (const int decoys : {0, 400})
    for (const bool intercept : {true, false}) {
      SCOPED_TRACE(std::to_string(decoys) + (intercept ? " decoys, with intercept" : " decoys, without"));
      const Rows rows = wide_problem(40, 700, decoys);
      const Model m = fit(make_dataset(rows, Storage::floats), l1("auto", intercept, 1e-9));
      EXPECT_EQ(m.solver, "linear_program");
      EXPECT_EQ(m.status, Status::optimal);
      EXPECT_GT(m.certificate.lower, 0);
      EXPECT_LE(m.certificate.upper - m.certificate.lower, 1e-9 * m.certificate.upper);
      const Model same = fit(make_dataset(rows, Storage::sparse), l1("auto", intercept, 1e-9));
      EXPECT_NEAR(same.certificate.lower, m.certificate.lower, 1e-9 * m.certificate.upper);
    }
}

TEST(L1Margin, wide_rows_that_nothing_separates_are_proven_so) {
  Rows rows = wide_problem(20, 700, 0);
  rows.add(rows.x[0], 1 - rows.y[0]);
  const Model m = fit(make_dataset(rows, Storage::floats), l1("linear_program", true, 1e-9));
  EXPECT_EQ(m.status, Status::not_separable);
  EXPECT_LE(m.certificate.upper, 1e-9);
}

// Rows that no plane parts, each with a feature of its own of 1/3, as docs/papers.md makes soft margins: of the 256 features that the
// program begins with none separates 258 rows, and t ends below 0 by more than the rounding of one number.
TEST(L1Margin, a_margin_of_nothing_but_rounding_takes_in_more_features) {
  const int n = 1500, d = 22;
  Dataset data(Dataset::Outcome::classes);
  for (int i = 1; i <= n; ++i) {
    std::vector<std::int32_t> index(d + 1);
    std::vector<double> x(d + 1);
    const double one = std::sin(0.7 * i * i), other = std::sin(3.1 * i);
    for (int j = 0; j < d; ++j) {
      index[at(j)] = j;
      x[at(j)] = j < d - 2 ? std::sin(1.3 * i * (j + 1) + j + 1) : j == d - 2 ? one : other;
    }
    index[d] = d - 1 + i;
    x[d] = 1 / 3.0;
    const bool yes = one + other > 0.9 * std::cos(1.7 * i);
    data.append(sparse_row(index.data(), x.data(), d + 1, d + n), data.classes().intern(yes ? "yes" : "no", yes));
  }
  Options s = l1("linear_program", true, 1e-3);
  s.max_iterations = 4;
  const Model m = fit(data, s);
  EXPECT_EQ(m.iterations, 4);
  EXPECT_EQ(m.status, Status::iteration_limit);
  EXPECT_LT(m.certificate.upper, 0.01);
  EXPECT_GT(m.certificate.upper, 0.0005);
}

/// The largest γ over the vertices of {y (x λ + b) ≥ γ, ‖λ‖₁ ≤ 1}: every choice of rows, columns and signs.
double enumerated_margin(const Rows& rows, bool intercept) {
  const int n = rows.count(), d = rows.dimensions(), extra = intercept ? 1 : 0;
  Real best = 0;
  for (int columns = 1; columns < (1 << d); ++columns)
    for (int active = 1; active < (1 << n); ++active) {
      const int c = __builtin_popcount(static_cast<unsigned>(columns));
      if (__builtin_popcount(static_cast<unsigned>(active)) != c + extra) continue;
      for (int signs = 0; signs < (1 << c); ++signs) {
        const int k = c + extra + 1;
        RealMatrix a = RealMatrix::Zero(k, k);
        RealVector right = RealVector::Zero(k);
        right(k - 1) = 1;
        const auto fill = [&](int i, auto&& to) {
          const Real y = rows.y[at(i)] == 1 ? 1 : -1;
          for (int j = 0, p = 0; j < d; ++j)
            if ((columns >> j & 1) != 0) to(p++) = y * static_cast<Real>(rows.x[at(i)][at(j)]);
          if (intercept) to(c) = y;
          to(k - 1) = -1;
        };
        for (int i = 0, r = 0; i < n; ++i)
          if ((active >> i & 1) != 0) fill(i, a.row(r++));
        for (int p = 0; p < c; ++p) a(k - 1, p) = (signs >> p & 1) != 0 ? -1 : 1;
        const RealVector x = a.fullPivLu().solve(right);
        if (!((a * x - right).cwiseAbs().maxCoeff() < 1e-12L) || !(x(k - 1) > best)) continue;
        bool feasible = true;
        for (int p = 0; p < c; ++p) feasible &= a(k - 1, p) * x(p) >= -1e-12L;
        for (int i = 0; i < n && feasible; ++i) {
          RealVector row(k);
          fill(i, row);
          feasible = row.dot(x) >= -1e-12L;
        }
        if (feasible) best = x(k - 1);
      }
    }
  return static_cast<double>(best);
}

TEST(L1Margin, agrees_with_enumerated_vertices) {
  int separable = 0, inseparable = 0;
  for (const Family family : {Family::gaussian, Family::grid, Family::duplicated, Family::constant_column,
                              Family::collinear, Family::sparse, Family::unit})
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      Rows rows = random_rows(family, seed, 2);
      for (const bool intercept : {true, false}) {
        SCOPED_TRACE(std::to_string(static_cast<int>(family)) + " seed " + std::to_string(seed));
        const double expected = enumerated_margin(rows, intercept);
        const Model m = fit(make_dataset(rows), l1("auto", intercept, 1e-8));
        EXPECT_NEAR(m.certificate.upper, expected, 1e-8 * std::max(expected, 1.0));
        EXPECT_EQ(m.status, expected > 1e-12 ? Status::optimal : Status::not_separable);
        ++(expected > 1e-12 ? separable : inseparable);
      }
    }
  EXPECT_GT(separable, 50);
  EXPECT_GT(inseparable, 30);
}

/// What must hold of every l1 model: norm 1, the margin of these weights, statuses as solvers/solver.hpp promises.
void check_l1_model(const Rows& rows, double tolerance, const Model& m, double gap = 0) {
  ASSERT_TRUE(m.weights.allFinite() && m.intercept.allFinite());
  ASSERT_LE(m.certificate.lower, m.certificate.upper);
  Real least = infinite;
  for (Eigen::Index o = 0; o < m.weights.rows(); ++o) {
    const Real norm = m.weights.row(o).cast<Real>().cwiseAbs().sum();
    if (norm == 0) continue;
    EXPECT_NEAR(static_cast<double>(norm), 1.0, 1e-12);
    for (int i = 0; i < rows.count(); ++i) {
      const bool own = rows.classes == 2 ? rows.y[at(i)] == 1 : rows.y[at(i)] == o;
      Real score = static_cast<Real>(m.intercept(o));
      for (int j = 0; j < rows.dimensions(); ++j)
        score += static_cast<Real>(m.weights(o, j)) * static_cast<Real>(rows.x[at(i)][at(j)]);
      least = std::min(least, own ? score : -score);
    }
  }
  EXPECT_LE(m.certificate.lower, least);
  if (m.status == Status::optimal) {
    EXPECT_TRUE(m.certificate.relative_gap <= tolerance || m.certificate.gap <= gap)
        << m.certificate.relative_gap << ", " << m.certificate.gap;
  }
  if (m.status == Status::not_separable) {
    EXPECT_LE(m.certificate.upper, 1e-9 * m.certificate.radius);
    EXPECT_LE(m.certificate.lower, 0);
  }
}

class L1Conformance : public ::testing::TestWithParam<Named> {};

TEST_P(L1Conformance, both_methods_enclose_the_same_margin) {
  const Named& problem = GetParam();
  const Dataset data = make_dataset(problem.rows);
  for (const bool intercept : {true, false}) {
    SCOPED_TRACE(intercept ? "with intercept" : "without intercept");
    const Model exact = fit(data, l1("auto", intercept, 1e-3));
    check_l1_model(problem.rows, 1e-3, exact);
    EXPECT_TRUE(exact.status == Status::optimal || exact.status == Status::not_separable)
        << status_name(*exact.status) << " [" << exact.certificate.lower << ", " << exact.certificate.upper << "]";
    double largest = 0;
    for (const std::vector<double>& x : problem.rows.x)
      for (const double value : x) largest = std::max(largest, std::fabs(value));
    for (const Step step : {Step::quadratic, Step::wolfe, Step::adaboost, Step::optimal, Step::frank_wolfe})
      for (const char* loss : {"exponential", "logistic"}) {
        if (step == Step::frank_wolfe && loss != std::string("exponential")) continue;
        Options s = l1("boosting", intercept, 1e-2);
        s.step = step;
        s.loss = loss;
        s.max_iterations = 200;
        if (step == Step::frank_wolfe) s.gap_tolerance = largest > 0 ? 0.1 * largest : 1.0;
        const Model rounds = fit(data, s);
        check_l1_model(problem.rows, 1e-2, rounds, s.gap_tolerance);
        const double rounding = 1e-12 * exact.certificate.radius;
        EXPECT_LE(rounds.certificate.lower, exact.certificate.upper + rounding);
        EXPECT_GE(rounds.certificate.upper, exact.certificate.lower - rounding);
        EXPECT_LE(rounds.iterations, 200 * (problem.rows.classes > 2 ? problem.rows.classes : 1));
      }
  }
}

std::string problem_name(const ::testing::TestParamInfo<Named>& info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(All, L1Conformance, ::testing::ValuesIn(named_problems()), problem_name);

/// Rudin, Daubechies, Schapire (2004), Theorem 7: margin 3/8, to which AdaBoost does not come.
const int rudin[8][8] = {{-1, 1, 1, 1, 1, -1, -1, 1}, {-1, 1, 1, -1, -1, 1, 1, 1}, {1, -1, 1, 1, 1, -1, 1, 1},
                         {1, -1, 1, 1, -1, 1, 1, 1},  {1, -1, 1, -1, 1, 1, 1, -1}, {1, 1, -1, 1, 1, 1, 1, -1},
                         {1, 1, -1, 1, 1, 1, -1, 1},  {1, 1, 1, 1, -1, -1, 1, -1}};

/// The matrix as rows of both classes, so that y_i x_i are its rows.
Rows rudin_rows() {
  Rows rows;
  for (int i = 0; i < 8; ++i) {
    std::vector<double> x(8);
    for (int j = 0; j < 8; ++j) x[at(j)] = i % 2 == 0 ? rudin[i][j] : -rudin[i][j];
    rows.add(x, i % 2 == 0 ? 1 : 0);
  }
  return rows;
}

TEST(Boosting, AdaBoost_stalls_and_shrinkage_reaches_the_margin) {
  const Dataset data = make_dataset(rudin_rows());
  EXPECT_NEAR(fit(data, l1("auto", false, 1e-9)).certificate.lower, 0.375, 1e-9);
  for (const Step step : {Step::adaboost, Step::optimal}) {  // the same on entries ±1
    for (const double shrinkage : {1.0, 0.5, 0.1}) {
      Options s = l1("boosting", false, 1e-3);
      s.step = step;
      s.shrinkage = shrinkage;
      s.max_iterations = 20000;
      const Model m = fit(data, s);
      if (shrinkage == 1.0) {
        EXPECT_LT(m.certificate.lower, 1.0 / 3 + 1e-3);
        EXPECT_EQ(m.status, Status::iteration_limit);
      } else {
        EXPECT_GT(m.certificate.lower, 0.375 * (1 - 2e-3)) << shrinkage;
      }
    }
  }
  Options wolfe = l1("boosting", false, 2e-2);
  wolfe.step = Step::wolfe;
  EXPECT_EQ(fit(data, wolfe).status, Status::optimal);
}

struct Bound {
  Step step;
  double shrinkage;
};
class Telgarsky : public ::testing::TestWithParam<Bound> {};

// With the exponential loss C_t = 1: L(λ_t) ≤ L(λ_0) exp(−ν(2−ν)/(2 or 8) Σ γ_i²) (Lemmas 3.1; Theorem 3.1 with
// γ_i ≥ γ), and M(λ_t) ≥ γ (1 − ν/2) − ln(m)/(tνγ) for quadratic steps, with 4 ln(c_0) for Wolfe's and
// c_0 = m exp((1 − ν/2) γ α_1) (Lemmas 3.2 at t_0 = 0), once t ≥ 2 (or 8) ln(m)/(γ² ν (2 − ν)).
TEST_P(Telgarsky, bounds_of_risk_and_margin_hold_along_the_run) {
  const auto [step, nu] = GetParam();
  const bool wolfe = step == Step::wolfe;
  for (const std::uint64_t seed : {1, 2, 3, 9, 12, 17, 33, 41}) {
    const Rows rows = stored_problem(seed);
    const Dataset data = make_dataset(rows);
    Progress progress;
    Options options = l1("boosting", false, 1e-3);
    Problem problem = make_problem(data, options);
    std::vector<double> y;
    for (std::int64_t i = 0; i < problem.rows(); ++i) y.push_back(problem.sign(i));
    FeatureLearners learners(problem, 1.0, progress);
    BoostingRounds boosting(learners, y, {step, nu, false, false}, progress);
    const double gamma = random_margins[seed - 1].without_intercept, m = static_cast<double>(rows.count());
    ASSERT_EQ(random_margins[seed - 1].seed, seed);
    double squares = 0, first = 0;
    EXPECT_NEAR(boosting.log_loss(), 0, 1e-14);
    for (int t = 1; t <= 3000; ++t) {
      const double edge = boosting.find();
      ASSERT_GE(edge, gamma * (1 - 1e-9));
      squares += edge * edge;
      boosting.step();
      if (t == 1) first = std::fabs(boosting.last_change());
      ASSERT_LE(boosting.log_loss(), -nu * (2 - nu) / (wolfe ? 8 : 2) * squares + 1e-9) << "round " << t;
      if (t < (wolfe ? 8 : 2) * std::log(m) / (gamma * gamma * nu * (2 - nu))) continue;
      const double log_c0 = std::log(m) + (wolfe ? (1 - nu / 2) * gamma * first : 0.0);
      ASSERT_GE(boosting.margin(), gamma * (1 - nu / 2) - (wolfe ? 4 : 1) * log_c0 / (t * nu * gamma) - 1e-12)
          << "round " << t;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Steps, Telgarsky,
                         ::testing::Values(Bound{Step::quadratic, 1.0}, Bound{Step::quadratic, 0.3},
                                           Bound{Step::wolfe, 1.0}, Bound{Step::wolfe, 0.3}));

/// Shalev-Shwartz and Singer (2008): within ε of the largest margin after 32 ln(n)/ε² rounds, in the ball ‖λ‖₁ ≤ 1; a step
/// never raises the loss β ln Σ exp(−m_i/β), whatever the intercept.
TEST(Boosting, frank_wolfe_reaches_its_accuracy_in_the_promised_rounds) {
  for (const std::uint64_t seed : {1, 2, 3, 9, 12, 17, 33, 41})
    for (const bool intercept : {false, true}) {
      SCOPED_TRACE(std::to_string(seed) + (intercept ? " with intercept" : " without"));
      const Rows rows = stored_problem(seed);
      const Dataset data = make_dataset(rows);
      const Progress progress;
      const Problem problem = make_problem(data, l1("boosting", intercept, 1e-3));
      std::vector<double> y;
      for (std::int64_t i = 0; i < problem.rows(); ++i) y.push_back(problem.sign(i));
      FeatureLearners learners(problem, 1.0, progress);
      const double gap = 0.1, log_n = std::log(static_cast<double>(rows.count())), beta = gap / (2 * log_n);
      BoostingRounds boosting(learners, y, {Step::frank_wolfe, 1, false, intercept, beta}, progress);
      const auto& stored = random_margins[seed - 1];
      const double best = intercept ? stored.with_intercept : stored.without_intercept;
      const double promised = std::ceil(32 * log_n / (gap * gap));
      double before = boosting.log_loss();
      for (double t = 0; t < promised; ++t) {
        ASSERT_GE(boosting.find(), best - 1e-9);
        boosting.step();
        ASSERT_LE(boosting.log_loss(), before + 1e-9);
        before = boosting.log_loss();
      }
      double size = 0;
      for (const double w : boosting.weights()) size += std::fabs(w);
      EXPECT_LE(size, 1 + 1e-12);
      EXPECT_GE(boosting.margin() * size, best - gap);
    }
}

TEST(Boosting, frank_wolfe_stops_at_its_accuracy_and_asks_for_one) {
  const Dataset data = make_dataset(clouds(3, 200, 5));
  Options s = l1("boosting", true, 0);
  s.step = Step::frank_wolfe;
  EXPECT_THROW(fit(data, s), Error);
  s.gap_tolerance = 0.2;
  s.max_iterations = 100000;
  const Model m = fit(data, s);
  EXPECT_EQ(m.status, Status::optimal);
  EXPECT_LE(m.certificate.gap, 0.2);
  EXPECT_GT(m.certificate.relative_gap, 0);
  const double exact = fit(data, l1("auto", true, 1e-9)).certificate.lower;
  EXPECT_LE(m.certificate.lower, exact * (1 + 1e-9));
  EXPECT_GE(m.certificate.upper, exact * (1 - 1e-9));
  s.shrinkage = 0.5;
  EXPECT_THROW(fit(data, s), Error);
  s.shrinkage.reset();
  s.loss = "logistic";
  EXPECT_THROW(fit(data, s), Error);
}

TEST(Boosting, a_free_intercept_is_minimised_out) {
  Rows rows = stored_problem(4);
  const Dataset data = make_dataset(rows);
  Progress progress;
  const Problem problem = make_problem(data, l1("boosting", true, 1e-3));
  std::vector<double> y;
  for (std::int64_t i = 0; i < problem.rows(); ++i) y.push_back(problem.sign(i));
  for (const bool logistic : {false, true}) {
    FeatureLearners learners(problem, 1.0, progress);
    BoostingRounds boosting(learners, y, {Step::wolfe, 0.5, logistic, true}, progress);
    const auto loss = [&](double b) {
      double sum = 0;
      for (std::size_t i = 0; i < y.size(); ++i) {
        double score = b;
        for (std::size_t j = 0; j < boosting.weights().size(); ++j) score += boosting.weights()[j] * rows.x[i][j];
        sum += logistic ? std::log1p(std::exp(-y[i] * score)) : std::exp(-y[i] * score);
      }
      return std::log(sum / static_cast<double>(y.size()));
    };
    for (int t = 0; t < 30; ++t) {
      boosting.find();
      boosting.step();
      const double b = boosting.loss_offset();
      EXPECT_NEAR(boosting.log_loss(), loss(b), 1e-12);
      EXPECT_GE(loss(b + 1e-3), loss(b));
      EXPECT_GE(loss(b - 1e-3), loss(b));
      double side[2] = {0, 0};
      for (std::size_t i = 0; i < y.size(); ++i) side[y[i] > 0 ? 1 : 0] += boosting.row_weights()(static_cast<int>(i));
      EXPECT_NEAR(side[0], 0.5, 1e-14);
      EXPECT_NEAR(side[1], 0.5, 1e-14);
    }
  }
}

TEST(Boosting, rounds_reach_the_tolerance_of_a_wide_margin) {
  for (const char* loss : {"exponential", "logistic"}) {
    Options s = l1("boosting", true, 5e-2);
    s.loss = loss;
    s.max_iterations = 20000;
    const Model m = fit(make_dataset(clouds(3, 200, 5)), s);
    EXPECT_EQ(m.status, Status::optimal) << loss << " " << m.certificate.lower << " " << m.certificate.upper;
    EXPECT_EQ(m.solver, "boosting");
    EXPECT_EQ(m.loss, loss);
  }
}

TEST(Boosting, rows_without_a_separator_get_the_weights_of_a_small_loss) {
  Rows rows = clouds(3, 200, 5);
  rows.y[10] = 1 - rows.y[10];
  rows.y[11] = 1 - rows.y[11];
  const Model m = fit(make_dataset(rows), l1("auto", true, 1e-3));
  EXPECT_EQ(m.status, Status::not_separable);
  EXPECT_EQ(m.solver, "linear_program+boosting");
  EXPECT_LE(m.certificate.errors, 4);
  EXPECT_GE(m.certificate.errors, 2);
}

TEST(Boosting, is_deterministic_and_keeps_its_limits) {
  const Dataset data = make_dataset(gaussian_rows(5, 200, 30, 0.1, 3));
  const Model a = fit(data, l1("auto", true, 1e-6)), b = fit(data, l1("auto", true, 1e-6));
  EXPECT_EQ(a.status, Status::optimal);
  EXPECT_TRUE(a.weights == b.weights && a.intercept == b.intercept);
  Options s = l1("boosting", true, 1e-9);
  s.max_seconds = 0.05;
  EXPECT_EQ(fit(data, s).status, Status::time_limit);
  s = l1("auto", true, 1e-9);
  s.max_seconds = 0.05;
  const Model stopped = fit(make_dataset(gaussian_rows(5, 2000, 400, 0.01)), s);
  EXPECT_EQ(stopped.status, Status::time_limit);
  EXPECT_LE(stopped.seconds, 2.0);
  EXPECT_LT(stopped.certificate.upper, stopped.certificate.radius);
  s = l1("boosting", true, 1e-3);
  s.norm = 2;
  EXPECT_THROW(fit(data, s), Error);
  s = l1("boosting", true, 1e-3);
  s.lambda = 1.0;
  EXPECT_THROW(fit(data, s), Error);
}

/// The largest |Σ v_i h(x_i)| over all stumps, by trying every threshold between two values.
double largest_edge(const Rows& rows, const Eigen::VectorXd& v) {
  double best = 0;
  for (int j = 0; j < rows.dimensions(); ++j)
    for (int a = 0; a < rows.count(); ++a) {
      double edge = 0;
      bool both = false;
      for (int i = 0; i < rows.count(); ++i) {
        const bool above = rows.x[at(i)][at(j)] > rows.x[at(a)][at(j)];
        both |= above;
        edge += above ? v(i) : -v(i);
      }
      if (both) best = std::max(best, std::fabs(edge));
    }
  return best;
}

TEST(Stumps, the_best_one_is_found_in_dense_and_sparse_columns) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Rows rows = stored_problem(seed);
    if (seed % 3 == 0)
      for (auto& x : rows.x)
        for (double& value : x) value = std::fabs(value) < 0.8 ? 0 : value;
    Random random(seed);
    Eigen::VectorXd v(rows.count());
    for (double& value : v) value = gaussian(random);
    Progress progress;
    for (const Storage storage : {Storage::doubles, Storage::floats, Storage::sparse}) {
      const Dataset data = make_dataset(rows, storage);
      StumpLearners learners(data, progress);
      const WeakLearners::Best best = learners.best(v, progress);
      EXPECT_NEAR(std::fabs(best.edge), largest_edge(rows, v), 1e-12);
      Eigen::VectorXd h(rows.count());
      const int middle = rows.count() / 3;  // stretches are independent
      learners.values(best.learner, middle, rows.count(), h.data());
      learners.values(best.learner, 0, middle, h.data());
      EXPECT_NEAR(v.dot(h), best.edge, 1e-12);
      const StumpBasis basis(learners.stumps(), data.dimensions());
      for (int i = 0; i < rows.count(); ++i) {
        double value;
        basis.evaluate(data.row(i), &value);
        EXPECT_EQ(value, h(i));
      }
    }
  }
}

TEST(Stumps, the_interval_is_proven_by_the_returned_vectors) {
  for (const Named& problem : named_problems()) {
    SCOPED_TRACE(problem.name);
    const int classes = problem.rows.classes;
    for (const bool intercept : {true, false}) {
      Options s = l1("auto", intercept, 0.05);
      s.learners = Learners::stumps;
      s.max_iterations = 300;
      const Model m = fit(make_dataset(problem.rows), s);
      ASSERT_NE(m.basis, nullptr);
      ASSERT_EQ(m.weights.cols(), m.basis->size());
      EXPECT_EQ(m.dimensions, problem.rows.dimensions());
      EXPECT_LE(m.certificate.lower, m.certificate.upper);
      EXPECT_LE(m.certificate.upper, 1.0);
      if (m.status == Status::optimal) {
        EXPECT_LE(m.certificate.relative_gap, 0.05);
      }
      if (classes > 2 || problem.rows.dimensions() > 100) continue;
      Eigen::VectorXd v(problem.rows.count());
      double mass[2] = {0, 0};
      for (int i = 0; i < v.size(); ++i) mass[problem.rows.y[at(i)]] += (*m.dual_weights)(i, 0);
      for (int i = 0; i < v.size(); ++i) {
        const int own = problem.rows.y[at(i)];
        v(i) = (own == 1 ? 1 : -1) * (*m.dual_weights)(i, 0) / (intercept ? 2 * mass[own] : mass[0] + mass[1]);
      }
      EXPECT_GE(m.certificate.upper, std::min(1.0, largest_edge(problem.rows, v)));
    }
  }
}

}  // namespace
}  // namespace margin
