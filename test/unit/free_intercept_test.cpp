// Soft margins with a free intercept: every solver that has one reaches certified intervals, on every loss and shape of
// problem, that hold the optimum which this file's own solver encloses; the certificate is sound for any dual vector.
#include "core/solvers/free_intercept.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/base/error.hpp"
#include "core/certificate/risk.hpp"
#include "core/model/verification.hpp"
#include "core/train/train.hpp"
#include "newton_problems.hpp"

namespace margin {

extern const Solver& sdca;
extern const Solver& newton;
extern const Solver& newton_cg;
extern const Solver& sgd;

namespace {

using testing::make_dataset;
using testing::make_table;
using testing::sample;
using testing::solve_with;
using testing::Solved;
using testing::Storage;
using testing::store;
using testing::Table;

Options free_soft(const std::string& loss, double lambda, double tolerance) {
  Options s = testing::soft(loss, lambda, tolerance);
  s.quantile = 0.8;
  s.intercept_form = InterceptForm::free;
  return s;
}

/// The optimum between two ends, by ascent over pairs of dual variables, Σ c a = 0 kept, each step a golden section: of
/// any loss, with nothing of the library's but its formulas.
struct Enclosed {
  double lower = 0, upper = 0;
};
Enclosed enclose(const Problem& p, int sweeps) {
  const std::int64_t n = p.rows();
  const double smooth = p.lambda * (1 - p.l1_ratio), kappa = p.lambda * p.l1_ratio;
  std::vector<std::vector<double>> x(static_cast<std::size_t>(n), std::vector<double>(p.dimensions(), 0.0));
  for (std::int64_t i = 0; i < n; ++i) add(1.0, p.data.row(i), x[static_cast<std::size_t>(i)].data());
  std::vector<double> a(x.size(), 0.0), v(x[0].size(), 0.0);  // v = Σ c a x / W
  const auto share = [&](std::int64_t i) { return p.weight(i) / p.total_weight; };
  const auto soft = [&](double z) { return std::copysign(std::max(0.0, std::fabs(z) - kappa), z); };
  const auto penalty = [&](const std::vector<double>& at) {
    double sum = 0;
    for (const double z : at) sum += soft(z) * soft(z);
    return sum / (2 * smooth);
  };
  const auto dual = [&] {
    double sum = -penalty(v);
    for (std::int64_t i = 0; i < n; ++i)
      if (share(i) > 0) sum -= share(i) * p.loss->conjugate(a[static_cast<std::size_t>(i)], p.target(i, 0));
    return sum;
  };
  for (int sweep = 0; sweep < sweeps; ++sweep)
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < i; ++j) {
        if (!(share(i) > 0) || !(share(j) > 0)) continue;
        const auto r = static_cast<std::size_t>(i), q = static_cast<std::size_t>(j);
        std::vector<double> moved = v;
        const auto gain = [&](double t) {
          for (std::size_t k = 0; k < v.size(); ++k) moved[k] = v[k] + t * (x[r][k] - x[q][k]);
          const double value = -penalty(moved) - share(i) * p.loss->conjugate(a[r] + t / share(i), p.target(i, 0)) -
                               share(j) * p.loss->conjugate(a[q] - t / share(j), p.target(j, 0));
          return std::isfinite(value) ? value : -std::numeric_limits<double>::infinity();
        };
        // Steps that stay in both domains.
        const auto bound = [&](double towards) {
          const double of_i = share(i) * (p.loss->project(a[r] + towards, p.target(i, 0)) - a[r]);
          const double of_j = -share(j) * (p.loss->project(a[q] - towards, p.target(j, 0)) - a[q]);
          return std::fabs(of_i) < std::fabs(of_j) ? of_i : of_j;
        };
        double low = bound(-100), high = bound(100);
        const double ratio = (std::sqrt(5.0) - 1) / 2;
        for (int k = 0; k < 60; ++k) {
          const double s = high - ratio * (high - low), t = low + ratio * (high - low);
          (gain(s) > gain(t) ? high : low) = gain(s) > gain(t) ? t : s;
        }
        const double t = (low + high) / 2;
        if (!(gain(t) > gain(0))) continue;
        a[r] += t / share(i);
        a[q] -= t / share(j);
        a[r] = p.loss->project(a[r], p.target(i, 0));
        a[q] = p.loss->project(a[q], p.target(j, 0));
        for (std::size_t k = 0; k < v.size(); ++k) v[k] += t * (x[r][k] - x[q][k]);
      }
  // P at the weights that follow, b by golden section.
  const auto primal = [&](double b) {
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      double u = b;
      for (std::size_t k = 0; k < v.size(); ++k) u += soft(v[k]) / smooth * x[static_cast<std::size_t>(i)][k];
      if (share(i) > 0) sum += share(i) * p.loss->value(u, p.target(i, 0));
    }
    for (const double z : v)
      sum +=
          p.lambda * ((1 - p.l1_ratio) / 2 * std::pow(soft(z) / smooth, 2) + p.l1_ratio * std::fabs(soft(z) / smooth));
    return sum;
  };
  double low = p.loss->log_link() ? -100 : -1e4, high = -low;
  for (int k = 0; k < 120; ++k) {
    const double s = low + 0.382 * (high - low), t = low + 0.618 * (high - low);
    (primal(s) < primal(t) ? high : low) = primal(s) < primal(t) ? t : s;
  }
  return {dual(), primal((low + high) / 2)};
}

class FreeIntercept : public ::testing::TestWithParam<std::string> {
 protected:
  bool classes() const { return !is_regression_loss(GetParam()); }
  /// The mean of labels is e^u: far ones are no problem of their own, but one beyond coordinate ascent.
  bool counts() const { return GetParam() == "poisson"; }
};

TEST_P(FreeIntercept, EverySolverHoldsTheOptimum) {
  Random random(7);
  int enclosed = 0;
  for (int trial = 0; trial < 48; ++trial) {
    const int shape = trial % 8;
    Options s = free_soft(GetParam(), std::pow(10.0, 3 * random.uniform() - 2), trial % 3 == 0 ? 1e-7 : 1e-4);
    Table t = testing::labels_for(GetParam(), make_table(random, shape, classes()));
    if (!classes() && !counts() && trial % 4 == 1)
      for (double& y : t.y) y += 1e6;
    if (trial % 5 == 0)
      for (int i = 0; i < t.rows(); ++i) t.weight.push_back(random.below(4) == 0 ? 0.0 : 2 * random.uniform());
    if (!t.weight.empty()) t.weight[0] = t.weight[1] = 1;
    const Dataset data = store(t, classes(), static_cast<Storage>(trial / 8 % 3));
    const Problem p = make_problem(data, s);
    ASSERT_TRUE(p.free_intercept);
    const Enclosed e = enclose(p, shape == 6 ? 2 : 12);
    const double size = std::max(std::fabs(e.upper), std::fabs(e.lower)), slip = 1e-12 * size;
    enclosed += e.upper - e.lower <= 1e-3 * size;
    for (const Solver* solver : {&newton, &newton_cg, &sdca}) {
      if (solver == &sdca) s.max_iterations = 20000;
      const Solved r = solve_with(*solver, data, s);
      // Columns 10⁴ apart in scale are beyond coordinate ascent, and slow without a matrix.
      if (shape != 5 || solver == &newton) {
        EXPECT_EQ(r.solution.status, Status::optimal) << solver->name() << " " << trial;
        EXPECT_LE(r.certificate.relative_gap, s.tolerance) << solver->name() << " " << trial;
      }
      EXPECT_LE(r.certificate.lower, e.upper + slip) << solver->name() << " " << trial;
      EXPECT_GE(r.certificate.upper, e.lower - slip) << solver->name() << " " << trial;
    }
  }
  EXPECT_GE(enclosed, 24);
}

TEST_P(FreeIntercept, ElasticNet) {
  Random random(19);
  for (int trial = 0; trial < 16; ++trial) {
    Options s = free_soft(GetParam(), std::pow(10.0, 3 * random.uniform() - 3), 1e-5);
    s.l1_ratio = 0.4;
    s.max_iterations = 50000;
    const Table t = testing::labels_for(GetParam(), make_table(random, trial % 5, classes()));
    const Dataset data = make_dataset(t, classes());
    const Enclosed e = enclose(make_problem(data, s), 12);
    const Solved r = solve_with(sdca, data, s);
    EXPECT_EQ(r.solution.status, Status::optimal) << trial;
    const double slip = 1e-12 * std::fabs(e.upper);
    EXPECT_LE(r.certificate.lower, e.upper + slip) << trial;
    EXPECT_GE(r.certificate.upper, e.lower - slip) << trial;
  }
}

TEST_P(FreeIntercept, ManyRowsRareClassesAndFarTargets) {
  Table t = testing::labels_for(GetParam(), sample(3, 40000, 10, classes()));
  for (std::size_t i = 0; i < t.y.size(); ++i)
    if (classes())
      t.y[i] = i % 1000 == 0 || (i % 500 == 0 && t.y[i] > 0) ? 1 : 0;
    else
      t.y[i] += 1e6;
  const Dataset data = store(t, classes(), Storage::floats);
  for (const double lambda : {1.0, 1e-2, 1e-5}) {
    Options s = free_soft(GetParam(), lambda, 1e-6);
    s.history = true;
    double upper = 0;
    for (const Solver* solver : {&newton, &newton_cg, &sdca}) {
      if (solver == &sdca && (lambda < 1e-3 || counts())) continue;
      const Solved r = solve_with(*solver, data, s);
      EXPECT_EQ(r.solution.status, Status::optimal) << solver->name() << " " << lambda;
      if (upper > 0) {
        EXPECT_NEAR(r.certificate.upper, upper, 1e-6 * upper) << solver->name() << " " << lambda;
      }
      upper = r.certificate.upper;
      for (const TracePoint& point : r.solution.trace) {
        EXPECT_LE(point.lower, r.certificate.upper * (1 + 1e-10)) << solver->name() << " " << lambda;
        EXPECT_GE(point.upper, r.certificate.lower * (1 - 1e-10)) << solver->name() << " " << lambda;
      }
    }
  }
}

TEST_P(FreeIntercept, ShiftedRowsAreTheSameProblem) {
  // A constant added to every value of a column moves the intercept, nothing else.
  Table t = testing::labels_for(GetParam(), sample(5, 400, 5, classes()));
  const Options s = free_soft(GetParam(), 0.01, 1e-9);
  const Solved a = solve_with(newton, store(t, classes(), Storage::doubles), s);
  for (auto& x : t.x) x[0] += 8;
  const Solved b = solve_with(newton, store(t, classes(), Storage::doubles), s);
  EXPECT_NEAR(a.certificate.upper, b.certificate.upper, 3e-9 * a.certificate.upper);
  EXPECT_NEAR(a.solution.intercept[0], b.solution.intercept[0] + 8 * b.solution.weights(0, 0),
              1e-3 * (1 + std::fabs(a.solution.intercept[0])));
}

TEST_P(FreeIntercept, StartsFromAModel) {
  Table t = testing::labels_for(GetParam(), sample(23, 3000, 6, classes()));
  const Dataset data = store(t, classes(), Storage::doubles);
  const Options s = free_soft(GetParam(), 1e-3, 1e-6);
  for (const Solver* solver : {&newton, &newton_cg, &sdca}) {
    const Solved cold = solve_with(*solver, data, s);
    Options warm = s;
    InitialModel model;
    const Solution& from = cold.solution;
    model.weights.assign(from.weights.data(), from.weights.data() + from.weights.size());
    model.intercept.assign(from.intercept.data(), from.intercept.data() + 1);
    model.dual_weights.assign(from.dual.data(), from.dual.data() + from.dual.size());
    warm.initial = model;
    const Solved again = solve_with(*solver, data, warm);
    EXPECT_EQ(again.solution.status, Status::optimal) << solver->name();
    EXPECT_LT(again.solution.iterations, cold.solution.iterations) << solver->name();
  }
}

TEST_P(FreeIntercept, CertificateIsSoundForAnyDuals) {
  Random random(31);
  for (int trial = 0; trial < 40; ++trial) {
    const Options s = free_soft(GetParam(), std::pow(10.0, 3 * random.uniform() - 2), 1e-6);
    const Table t = testing::labels_for(GetParam(), make_table(random, trial % 4, classes()));
    const Dataset data = make_dataset(t, classes());
    const Problem p = make_problem(data, s);
    const Solved r = solve_with(newton, data, s);
    Weights a = r.solution.dual;
    // Out of balance by a little, by much, and on one side only.
    for (std::int64_t i = 0; i < p.rows(); ++i) {
      const double noise = trial % 3 == 0 ? 1e-3 : 1.0;
      a(i, 0) = p.loss->project(a(i, 0) + noise * (random.uniform() - 0.3), p.target(i, 0));
      if (trial % 5 == 4) a(i, 0) = p.loss->project(std::fabs(a(i, 0)), p.target(i, 0));
    }
    const Certificate c = certify(p, r.solution.weights, r.solution.intercept, a);
    EXPECT_LE(c.lower, r.certificate.upper) << trial;
    EXPECT_GE(c.upper, r.certificate.lower) << trial;
  }
}

INSTANTIATE_TEST_SUITE_P(All, FreeIntercept,
                         ::testing::ValuesIn(std::vector<std::string>(loss_names().begin(), loss_names().end())),
                         [](const auto& info) { return info.param; });

TEST(FreeIntercepts, OneAgainstTheRest) {
  Table t = sample(41, 900, 6, true, 4);
  const Dataset data = store(t, true, Storage::doubles, 4);
  for (const char* loss : {"hinge", "logistic"})
    for (const Solver* solver : {&newton, &sdca}) {
      const Solved r = solve_with(*solver, data, free_soft(loss, 1e-2, 1e-5));
      EXPECT_EQ(r.solution.status, Status::optimal) << loss;
      for (Eigen::Index o = 0; o < 4; ++o) EXPECT_LE(std::fabs(r.solution.dual.col(o).sum()), 1e-9) << loss;
    }
}

TEST(FreeIntercepts, StoredModelsAreVerifiedAsTheyWereTrained) {
  Table t = sample(43, 500, 4, false);
  for (double& y : t.y) y += 1000;
  const Dataset data = store(t, false, Storage::doubles);
  Options s = free_soft("absolute", 0.1, 1e-6);
  s.dual_weights = true;
  const Model model = train(data, s, {}, {});
  Verification check(model, s, true);
  for (std::int64_t i = 0; i < data.rows(); ++i) check.add(data.row(i), data.target(i), data.target(i), -1);
  const VerifiedModel v = check.result({});
  ASSERT_TRUE(v.dual.has_value() && v.primal.has_value());
  EXPECT_NEAR(*v.primal, model.certificate.upper, 1e-12 * *v.primal);
  EXPECT_NEAR(*v.dual, model.certificate.lower, 1e-12 * *v.primal);
  EXPECT_FALSE(v.certain.has_value());
  // In the penalised form the same vectors have another value.
  Options penalized = s;
  penalized.intercept_form = InterceptForm::penalized;
  Verification other(model, penalized, true);
  for (std::int64_t i = 0; i < data.rows(); ++i) other.add(data.row(i), data.target(i), data.target(i), -1);
  EXPECT_GT(*other.result({}).primal, *v.primal);
}

TEST(FreeIntercepts, RefusalsSayWhatToDo) {
  Table t = sample(47, 60, 3, true);
  const Dataset data = store(t, true, Storage::doubles);
  Options s = free_soft("hinge", 0.1, 1e-3);
  s.solver = "sgd";
  EXPECT_THROW(train(data, s, {}, {}), Error);
  Options hard;
  hard.intercept_form = InterceptForm::penalized;
  EXPECT_THROW(train(data, hard, {}, {}), Error);
  hard.intercept_form = InterceptForm::free;
  EXPECT_NO_THROW(train(data, hard, {}, {}));
  s.solver = "auto";
  s.given = {"intercept", "intercept_scale"};
  try {
    train(data, s, {}, {});
    ADD_FAILURE() << "not refused";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("a free intercept"), std::string::npos) << e.what();
    EXPECT_NE(e.hint().find("penalized"), std::string::npos) << e.hint();
  }
}

TEST(FreeIntercepts, ShiftIsTheMinimum) {
  // φ(t) = |t − 3| + t²/200, and a step function alone.
  const auto smooth = [](double t) { return SlopeAt{(t > 3 ? 1 : -1) + t / 100, 1, 0.01}; };
  EXPECT_NEAR(balanced_shift(smooth, 1, 0), 3, 1e-12);
  const auto steps = [](double t) { return SlopeAt{t < -40 ? -2.0 : (t < 17 ? -1.0 : 4.0), 4, 0}; };
  EXPECT_NEAR(balanced_shift(steps, 1, 0), 17, 1e-12);
  const auto line = [](double t) { return SlopeAt{2 * t + 6, 6, 2}; };
  EXPECT_NEAR(balanced_shift(line, 0, 0), -3, 1e-14);
  const Balance share = Balance::of(3, 2);
  EXPECT_DOUBLE_EQ(share(1.5), 1);
  EXPECT_DOUBLE_EQ(share(-1.5), -1.5);
  EXPECT_DOUBLE_EQ(Balance::of(0, 0)(1.5), 1.5);
}

}  // namespace
}  // namespace margin
