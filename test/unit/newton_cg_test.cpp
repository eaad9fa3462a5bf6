// The solver newton_cg: certified on every loss, equal to newton's optimum, and on wide rows of unscaled columns.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>

#include "core/base/error.hpp"
#include "core/solvers/newton/between_bounds.hpp"
#include "core/solvers/newton/conjugate_gradients.hpp"
#include "core/solvers/newton/gram.hpp"
#include "label_of.hpp"
#include "newton_problems.hpp"

namespace margin {

extern const Solver& newton;
extern const Solver& newton_cg;

namespace {

using testing::make_table;
using testing::normal;
using testing::sample;
using testing::soft;
using testing::Solved;
using testing::Storage;
using testing::store;
using testing::Table;

Solved solve(const Dataset& data, const Options& s, const Solver& solver = newton_cg) {
  return testing::solve_with(solver, data, s);
}

/// Texts as margin_hashed_features makes them: a few indicators of very different frequency, and a column of lengths,
/// which is thousands of times larger.
Dataset texts(std::uint64_t seed, int rows, int width, int classes) {
  Random random(seed);
  Dataset data(classes > 0 ? Dataset::Outcome::classes : Dataset::Outcome::targets);
  for (int c = 0; c < classes; ++c) data.classes().intern(std::to_string(c), c);
  for (int i = 0; i < rows; ++i) {
    std::vector<std::int32_t> columns;
    double outcome = 0;
    for (int word = 0; word < 6; ++word) {
      const double u = random.uniform();
      columns.push_back(static_cast<std::int32_t>(u * u * u * (width - 1)));
      outcome += columns.back() % 7;
    }
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    std::vector<double> values(columns.size(), 1.0);
    columns.push_back(width - 1);
    values.push_back(std::round(50 * std::exp(4 * random.uniform())));
    if (classes > 0) outcome = i < classes ? i : static_cast<int>(outcome) % classes;
    data.append(sparse_row(columns.data(), values.data(), static_cast<std::int32_t>(columns.size()), width),
                testing::label_of(data, outcome));
  }
  return data;
}

class NewtonCgLoss : public ::testing::TestWithParam<std::string> {
 protected:
  bool classes() const { return !is_regression_loss(GetParam()); }
};

TEST_P(NewtonCgLoss, FindsTheOptimumOfNewton) {
  Random random(211);
  const double tolerances[] = {1e-3, 1e-6, 1e-9};
  for (int trial = 0; trial < 72; ++trial) {
    Options s = soft(GetParam(), std::pow(10.0, 4 * random.uniform() - 3), tolerances[trial / 8 % 3]);
    s.intercept = trial % 4 < 2;
    s.intercept_scale = trial % 8 < 4 ? 1 : 2.5;
    Table t = testing::labels_for(GetParam(), make_table(random, trial % 8, classes()));
    if (trial % 5 == 0)
      for (int i = 0; i < t.rows(); ++i) t.weight.push_back(random.below(4) == 0 ? 0.0 : 2 * random.uniform());
    if (!t.weight.empty()) t.weight[0] = t.weight[1] = 1;
    const Dataset data = store(t, classes(), static_cast<Storage>(trial / 24 % 3));
    const Solved r = solve(data, s), exact = solve(data, s, newton);
    EXPECT_EQ(r.solution.solver, "newton_cg");
    EXPECT_EQ(r.solution.status, Status::optimal) << trial;
    EXPECT_LE(r.certificate.relative_gap, s.tolerance) << trial;
    EXPECT_LE(r.certificate.lower, exact.certificate.upper) << trial;
    EXPECT_GE(r.certificate.upper, exact.certificate.lower) << trial;
  }
}

TEST_P(NewtonCgLoss, TakesWideRowsOfUnscaledColumns) {
  const Dataset data = texts(5, 5000, 20000, classes() ? 2 : 0);
  for (const double lambda : {1e-1, 1e-3, 1e-5}) {
    const Solved r = solve(data, soft(GetParam(), lambda, 1e-3));
    EXPECT_EQ(r.solution.status, Status::optimal) << lambda;
    EXPECT_LE(r.certificate.relative_gap, 1e-3) << lambda;
  }
}

TEST_P(NewtonCgLoss, GoesOnFromAModel) {
  const Dataset data = texts(6, 1000, 3000, classes() ? 2 : 0);
  Options s = soft(GetParam(), 1e-3, 1e-3);
  const Solution first = solve(data, s).solution;
  InitialModel model;
  model.weights.assign(first.weights.data(), first.weights.data() + first.weights.size());
  model.intercept.assign(first.intercept.data(), first.intercept.data() + first.intercept.size());
  model.dual_weights.assign(first.dual.data(), first.dual.data() + first.dual.size());
  s.initial = model;
  const Solved again = solve(data, s);
  EXPECT_LE(again.solution.iterations, 1);
  EXPECT_LE(again.certificate.relative_gap, 1e-3);
}

TEST_P(NewtonCgLoss, LimitsLeaveAnHonestModel) {
  const Dataset data = texts(7, 2000, 6000, classes() ? 3 : 0);
  const double optimum = solve(data, soft(GetParam(), 1e-4, 1e-6)).certificate.lower;
  for (const std::int64_t limit : {1, 2, 5}) {
    Options s = soft(GetParam(), 1e-4, 1e-12);
    s.max_iterations = limit;
    const Solved r = solve(data, s);
    EXPECT_LE(r.solution.iterations, limit + 2);
    EXPECT_TRUE(std::isfinite(r.certificate.upper));
    EXPECT_GE(r.certificate.upper, optimum);
  }
}

struct Cancelled : std::exception {};

TEST_P(NewtonCgLoss, PollsAllTheTime) {
  struct Counting : Progress {
    mutable int calls = 0;
    int limit = 1 << 30;
    void poll() const override {
      if (++calls >= limit) throw Cancelled();
    }
  };
  const Dataset data = texts(8, 20000, 50000, classes() ? 2 : 0);
  const Options s = soft(GetParam(), 1e-4, 1e-3);
  const Problem p = make_problem(data, s);
  Counting counting;
  const Solution done = newton_cg.solve(p, s, counting);
  EXPECT_GE(counting.calls, 2 * done.iterations);
  for (int k = 1; k < counting.calls; k *= 3) {
    Counting stopping;
    stopping.limit = k;
    EXPECT_THROW(newton_cg.solve(p, s, stopping), Cancelled);
  }
}

INSTANTIATE_TEST_SUITE_P(All, NewtonCgLoss,
                         ::testing::ValuesIn(std::vector<std::string>(loss_names().begin(), loss_names().end())),
                         [](const auto& info) { return info.param; });

TEST(NewtonCg, SolvesItsSystems) {
  // Against the product with the matrix itself, columns 10^6 apart.
  Random random(17);
  for (int trial = 0; trial < 20; ++trial) {
    Table t = sample(static_cast<std::uint64_t>(100 + trial), 40 + trial, 5 + 2 * trial, true);
    for (auto& row : t.x)
      for (std::size_t j = 0; j < row.size(); ++j) row[j] *= j % 3 == 0 ? 1000 : (j % 3 == 1 ? 1 : 1e-3);
    const Dataset data = store(t, true, trial % 2 == 0 ? Storage::doubles : Storage::sparse);
    Options s = soft("logistic", 1, 1e-3);
    s.intercept = trial % 4 < 2;
    const Problem p = make_problem(data, s);
    Progress progress;
    margin::Run run(s, progress, "test", 1);
    const NewtonRows rows(p, run);
    const std::size_t d = rows.columns();
    std::vector<double> weight(static_cast<std::size_t>(rows.rows())), r(d), x(d), u(weight.size()), image(d);
    for (double& v : weight) v = random.below(3) == 0 ? 0 : random.uniform();
    for (double& v : r) v = normal(random);
    ConjugateGradients gradients(rows);
    gradients.solve(weight.data(), 2.5, r, 1e-8, x);
    rows.scores(x.data(), u.data());
    for (std::size_t i = 0; i < u.size(); ++i) u[i] *= 2.5 * weight[i];
    rows.combine(u.data(), image.data());
    double residual = 0, size = 0;
    for (std::size_t j = 0; j < d; ++j) {
      residual += std::pow(x[j] + image[j] + r[j], 2);
      size += r[j] * r[j];
    }
    EXPECT_LE(std::sqrt(residual), 1e-7 * std::sqrt(size)) << trial;
  }
}

/// Two classes from columns 10^3 apart, some of them nearly alike.
Dataset unscaled(std::uint64_t seed, int rows, int features) {
  Table t = sample(seed, rows, features, true);
  Random random(seed + 1);
  for (auto& x : t.x) {
    for (std::size_t j = 5; j < x.size(); j += 4) x[j] = x[j - 5] + 0.1 * normal(random);
    for (std::size_t j = 0; j < x.size(); ++j) x[j] = (x[j] + 1) * (j % 3 == 0 ? 1000 : (j % 3 == 1 ? 30 : 1));
  }
  return store(t, true, Storage::doubles);
}

TEST(NewtonCg, SolvesItsModelsBetweenBounds) {
  Random random(18);
  bool some_end_early = false;
  for (int trial = 0; trial < 24; ++trial) {
    const Dataset data = unscaled(200 + static_cast<std::uint64_t>(trial), 40 + trial, 4 + trial);
    Options s = soft("logistic", 1, 1e-3);
    s.intercept = trial % 3 != 0;
    s.intercept_form = trial % 3 == 1 ? InterceptForm::free : InterceptForm::penalized;
    for (int j = 0; j < data.dimensions(); ++j) {
      const double end = std::pow(10.0, -4 * random.uniform());
      s.bounds.push_back(j % 5 == 0   ? WeightRange{0, std::numeric_limits<double>::infinity()}
                         : j % 7 == 1 ? WeightRange{end, end}
                                      : WeightRange{-end, 2 * end});
    }
    const Problem p = make_problem(data, s);
    Progress progress;
    margin::Run run(s, progress, "test", 1);
    const NewtonRows rows(p, run);
    const std::size_t d = rows.columns();
    std::vector<double> weight(static_cast<std::size_t>(rows.rows())), r(d), w(d), step(d), image(d);
    for (double& v : weight) v = random.below(3) == 0 ? 0 : random.uniform();
    for (double& v : w) v = random.below(2) == 0 ? 0 : normal(random);
    rows.clip(w);
    for (std::size_t j = 0; j < d; ++j) r[j] = normal(random) * (j % 3 == 0 ? 1e6 : 1);
    ConjugateGradients gradients(rows);
    // What the model changes along the step.
    const auto take = [&](const BoxEffort& effort) {
      gradients.weigh(weight.data(), 2.5);
      if (trial % 2 == 0) {
        step_between_bounds(rows, gradients, weight.data(), 2.5, w, r, effort, step);
      } else {
        SymmetricMatrix gram(d);
        gram.set_zero();
        GramSum(rows).add(weight.data(), gram);
        step_between_bounds(rows, gram, 2.5, w, r, effort, step);
      }
      gradients.multiply(step, image);
      double change = 0;
      for (std::size_t j = 0; j < d; ++j) change += step[j] * (r[j] + 0.5 * image[j]);
      return change;
    };
    const double one = take({1e-6, 1}), three = take({1e-6, 3}), all = take({1e-6});
    EXPECT_LT(one, 0) << trial;
    EXPECT_LE(three, one) << trial;
    EXPECT_LE(all, three) << trial;
    some_end_early |= all < 1.01 * three;
    // What a step of the model's gradient, cut to the bounds, would still change; the same from no step at all.
    double left = 0, first = 0;
    for (std::size_t j = 0; j < d; ++j) {
      const double at = w[j] + step[j], unit = gradients.inverse_diagonal(j), g = r[j] + image[j];
      EXPECT_NEAR(std::clamp(at, rows.low(j), rows.high(j)), at, 1e-15 * (std::fabs(w[j]) + std::fabs(step[j])))
          << trial << ' ' << j;
      left += std::pow(std::clamp(at - unit * g, rows.low(j), rows.high(j)) - at, 2) / unit;
      first += std::pow(std::clamp(w[j] - unit * r[j], rows.low(j), rows.high(j)) - w[j], 2) / unit;
    }
    EXPECT_LE(left, 1e-10 * first) << trial;
  }
  EXPECT_TRUE(some_end_early);
}

TEST(NewtonCg, NewtonTakesAsManyStepsBetweenBoundsAsWithout) {
  for (const std::uint64_t seed : {31, 32, 33})
    for (const char* loss : {"logistic", "squared_hinge", "hinge"}) {
      const Dataset data = unscaled(seed, 600, 40);
      Options s = soft(loss, 1e-4, 1e-3);
      const Solved free = solve(data, s, newton);
      s.positive = true;
      const Solved r = solve(data, s, newton);
      EXPECT_EQ(r.solution.status, Status::optimal) << loss << ' ' << seed;
      EXPECT_LE(r.solution.iterations, 2 * free.solution.iterations) << loss << ' ' << seed;
    }
}

TEST(NewtonCg, TakesNoMoreStepsBetweenBoundsThanNewton) {
  for (const std::uint64_t seed : {31, 32, 33})
    for (const char* loss : {"logistic", "squared_hinge", "hinge"})
      for (const double end : {0.05, 0.002}) {
        const Dataset data = unscaled(seed, 600, 40);
        Options s = soft(loss, 1e-4, 1e-3);
        s.named_bounds["*"] = {-end, end};
        s.max_iterations = 300;
        const Solved r = solve(data, s), exact = solve(data, s, newton);
        EXPECT_EQ(r.solution.status, Status::optimal) << loss << ' ' << end;
        EXPECT_LE(r.certificate.relative_gap, 1e-3) << loss << ' ' << end;
        EXPECT_LE(r.solution.iterations, 2 * exact.solution.iterations) << loss << ' ' << end;
      }
}

TEST(NewtonCg, ClassesAgainstTheRest) {
  const Dataset data = texts(9, 3000, 4000, 12);
  for (const char* loss : {"logistic", "hinge"}) {
    const Options s = soft(loss, 1e-3, 1e-3);
    const Solved r = solve(data, s);
    EXPECT_EQ(r.solution.status, Status::optimal) << loss;
    EXPECT_LE(r.certificate.relative_gap, 1e-3) << loss;
    EXPECT_LE(newton_cg.workspace(make_problem(data, s)), 8e6);  // no matrix of 4000 × 4000
  }
}

TEST(NewtonCg, SaysWhatItCannotDo) {
  const Dataset data = texts(10, 100, 50, 2);
  Options s = soft("logistic", 1e-3, 1e-3);
  s.l1_ratio = 0.5;
  EXPECT_EQ(newton_cg.unsupported_reason(make_problem(data, s)), "it has an l1_ratio above 0");
}

}  // namespace
}  // namespace margin
