// Bounds of weights: the term of the dual, the options in all their forms and units, and every loss, penalty and solver between bounds
// against an ascent of the tests' own.
#include "core/problem/bounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/certificate/risk.hpp"
#include "core/math/box_term.hpp"
#include "core/model/verification.hpp"
#include "core/problem/standardize.hpp"
#include "core/train/path.hpp"
#include "core/train/train.hpp"
#include "risk_problems.hpp"

namespace margin {
namespace {

using testing::labels_for;
using testing::make_dataset;
using testing::make_table;
using testing::normal;
using testing::Reference;
using testing::solve_reference;
using testing::Table;

/// Bounds around, beside or at 0, some of them without an end; none of them is narrower than it says.
WeightRange random_range(Random& random, double size) {
  WeightRange r;
  const double a = size * normal(random), b = size * normal(random);
  switch (random.below(6)) {
    case 0:
      return r;
    case 1:
      r.lower = 0;
      return r;
    case 2:
      r.upper = -0.0;
      return r;
    case 3:
      r.lower = a;
      return r;
    case 4:
      r.lower = r.upper = a;
      return r;
    default:
      r.lower = std::min(a, b), r.upper = std::max(a, b);
      return r;
  }
}

TEST(Bounds, TheTermIsBelowEveryWeightsValueAndNearTheLeast) {
  Random random(1);
  for (int trial = 0; trial < 20000; ++trial) {
    const double size = std::pow(10.0, 12 * random.uniform() - 6);
    WeightRange r = random_range(random, size);
    const double mu = trial % 7 == 0 ? 0 : std::pow(10.0, 8 * random.uniform() - 6),
                 kappa = trial % 3 == 0 ? 0 : std::pow(10.0, 4 * random.uniform() - 3);
    double q = normal(random) * std::pow(10.0, 6 * random.uniform() - 4);
    if (trial % 5 == 0) q = std::copysign(kappa, q);
    const auto value = [&](double w) {
      const long double v = w;
      return static_cast<long double>(mu) / 2 * v * v + static_cast<long double>(kappa) * std::fabs(v) -
             static_cast<long double>(q) * v;
    };
    const double term = box_term(q, mu, kappa, r.lower, r.upper), at = box_minimiser(q, mu, kappa, r.lower, r.upper);
    if (!std::isfinite(at)) {
      EXPECT_EQ(term, -infinity);
      EXPECT_TRUE(mu == 0 && std::fabs(q) > kappa);
      continue;
    }
    EXPECT_TRUE(at >= r.lower && at <= r.upper);
    // Beside the minimiser, at the ends and elsewhere.
    for (const double w : {at, std::nextafter(at, infinity), std::nextafter(at, -infinity), 0.0, r.lower, r.upper,
                           at * (1 + 1e-8), at * (1 - 1e-8), at + size * normal(random)})
      if (std::isfinite(w) && w >= r.lower && w <= r.upper) {
        EXPECT_LE(static_cast<long double>(term), value(w)) << mu << ' ' << kappa << ' ' << q << ' ' << w;
      }
    const double terms = mu / 2 * at * at + kappa * std::fabs(at) + std::fabs(q * at);
    EXPECT_GE(static_cast<long double>(term), value(at) - 20 * static_cast<long double>(epsilon) * terms - 1e-300L);
    // Of any q within an error of it.
    const double error = std::fabs(q) * random.uniform() * 1e-3, off = box_term(q, error, mu, kappa, r.lower, r.upper);
    if (off == -infinity) continue;
    for (const double moved : {q - error, q + error, q + error * (2 * random.uniform() - 1)})
      EXPECT_LE(off, box_term(moved, mu, kappa, r.lower, r.upper) + 16 * epsilon * (std::fabs(term) + std::fabs(off)) +
                         1e-300);
  }
}

struct Case {
  Table table;
  Options options;
  bool classes = false;
};

Case random_case(Random& random, const std::string& loss, int trial) {
  Case c;
  c.classes = !is_regression_loss(loss);
  c.table = labels_for(loss, make_table(random, trial % 8 == 5 ? 0 : trial % 8, c.classes));
  if (trial % 4 == 1)
    for (int i = 0; i < c.table.rows(); ++i) c.table.weight.push_back(i == 0 ? 1.0 : 3 * random.uniform());
  c.options.loss = loss;
  c.options.lambda = std::pow(10.0, -2 * random.uniform() - 0.3);
  c.options.l1_ratio = trial % 3 == 2 ? 0.4 : 0;
  c.options.tolerance = 1e-8;
  c.options.intercept_form = InterceptForm::penalized;
  if (trial % 5 == 4) c.options.intercept = false, c.options.intercept_form = InterceptForm::by_default;
  for (int j = 0; j < c.table.dimensions(); ++j) c.options.bounds.push_back(random_range(random, 0.3));
  return c;
}

Reference reference_of(const Case& c, const Problem& p, int epochs) {
  std::vector<double> weight, y;
  for (std::int64_t i = 0; i < p.rows(); ++i) {
    weight.push_back(p.weight(i));
    y.push_back(p.target(i, 0));
  }
  return solve_reference(c.table, y, weight, p.total_weight, c.options.loss, c.options, epochs);
}

class EveryLoss : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryLoss, EverySolverComesToTheOptimumBetweenBoundsAndProvesIt) {
  Random random(2);
  int active = 0;
  for (int trial = 0; trial < 48; ++trial) {
    Case c = random_case(random, GetParam(), trial);
    const Dataset data = make_dataset(c.table, c.classes);
    const Problem p = make_problem(data, c.options);
    const Reference best = reference_of(c, p, 3000);
    ASSERT_LE(best.dual, best.primal * (1 + 1e-9) + 1e-12);
    for (const char* solver : {"auto", "sdca", "newton", "newton_cg", "prox_newton"}) {
      c.options.solver = solver;
      if (solver != std::string("auto") && !find_solver(solver)->unsupported_reason(p).empty()) continue;
      // With an l1 norm nothing but sdca has losses that are not smooth between bounds.
      const bool ascent =
          solver == std::string("sdca") || (solver == std::string("auto") && p.l1_ratio > 0 && !p.loss->smooth());
      c.options.tolerance = ascent ? 1e-5 : 1e-8;
      c.options.max_iterations = ascent ? 30000 : 1000;
      SCOPED_TRACE(GetParam() + " " + solver + " " + std::to_string(trial));
      const Model model = train(data, c.options, Progress());
      EXPECT_EQ(model.status, Status::optimal) << model.solver << " gap " << model.certificate.relative_gap;
      EXPECT_LE(model.certificate.lower, best.primal * (1 + 1e-12) + 1e-15);
      EXPECT_GE(model.certificate.upper, best.dual - 1e-12 * std::fabs(best.dual) - 1e-15);
      for (std::int32_t j = 0; j < model.terms(); ++j) {
        const WeightRange& r = c.options.bounds[static_cast<std::size_t>(j)];
        EXPECT_GE(model.weights(0, j), r.lower);
        EXPECT_LE(model.weights(0, j), r.upper);
        active += model.weights(0, j) == r.lower || model.weights(0, j) == r.upper;
      }
    }
  }
  EXPECT_GT(active, 100);
}

TEST_P(EveryLoss, CertificatesHoldForAnyVectors) {
  Random random(3);
  for (int trial = 0; trial < 60; ++trial) {
    const Case c = random_case(random, GetParam(), trial);
    const Dataset data = make_dataset(c.table, c.classes);
    const Problem p = make_problem(data, c.options);
    const Reference best = reference_of(c, p, 1500);
    Weights w(1, p.dimensions());
    for (std::int32_t j = 0; j < p.dimensions(); ++j)
      w(0, j) = p.bounds.clip(0.5 * normal(random), static_cast<std::size_t>(j));
    const Eigen::VectorXd b = Eigen::VectorXd::Constant(1, p.intercept ? 0.3 * normal(random) : 0);
    Weights a(p.rows(), 1);
    for (double& v : a.reshaped()) v = normal(random);
    const Certificate found = certify(p, w, b, a, nullptr, {}, nullptr);
    EXPECT_LE(found.lower, best.primal * (1 + 1e-12) + 1e-15) << trial;
    EXPECT_GE(found.upper, best.dual - 1e-12 * std::fabs(best.dual) - 1e-15) << trial;
    // A weight outside is no solution.
    for (std::int32_t j = 0; j < p.dimensions(); ++j) {
      const double u = p.bounds.most(static_cast<std::size_t>(j)), l = p.bounds.least(static_cast<std::size_t>(j));
      if (!(u < infinity || l > -infinity)) continue;
      Weights outside = w;
      outside(0, j) = u < infinity ? std::nextafter(u, infinity) : std::nextafter(l, -infinity);
      EXPECT_EQ(certify(p, outside, b, a, nullptr, {}, nullptr).upper, infinity);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Bounds, EveryLoss,
                         ::testing::Values("hinge", "smoothed_hinge", "squared_hinge", "logistic", "squared",
                                           "absolute", "epsilon_insensitive", "squared_epsilon_insensitive", "huber",
                                           "quantile", "poisson"),
                         [](const auto& info) { return info.param; });

Options logistic(double lambda) {
  Options o;
  o.loss = "logistic";
  o.lambda = lambda;
  o.tolerance = 1e-9;
  return o;
}

/// With a free intercept, the lasso, several classes, wide sparse rows, and from another model: both ends of solvers that agree.
TEST(Bounds, HoldInEveryFormOfAProblem) {
  Random random(4);
  const Table t = make_table(random, 0, true, 3), two = make_table(random, 2, true);
  Table wide = make_table(random, 6, true);
  const auto same = [](const Model& a, const Model& b) {
    EXPECT_EQ(a.status, Status::optimal);
    EXPECT_EQ(b.status, Status::optimal);
    EXPECT_NEAR(a.certificate.upper, b.certificate.upper, 1e-7 * a.certificate.upper);
  };
  for (const char* loss : {"logistic", "hinge"}) {
    Options o = logistic(0.02);
    o.loss = loss;
    o.named_bounds["*"] = {-0.1, 0.05};
    Options first = o, second = o;
    first.solver = "newton", second.solver = "newton_cg";
    same(train(make_dataset(t, true, 3), first, {}), train(make_dataset(t, true, 3), second, {}));
    first.intercept_form = second.intercept_form = InterceptForm::free;
    first.named_bounds["1"] = second.named_bounds["1"] = {0.02, 0.03};
    same(train(make_dataset(two, true), first, {}), train(make_dataset(two, true), second, {}));
    first.solver = "sdca";
    first.tolerance = 1e-8;
    same(train(make_dataset(two, true), first, {}), train(make_dataset(two, true), second, {}));
    second.initial = start_from(train(make_dataset(two, true), second, {}));
    // Without its dual weights a start says little to a loss with kinks.
    if (loss == std::string("logistic")) {
      EXPECT_LE(*train(make_dataset(two, true), second, {}).iterations, 2);
    }
    EXPECT_THROW(
        {
          Options span = o;
          span.solver = "newton";
          train(make_dataset(wide, true), span, {});
        },
        Error);
    Options any = o;
    any.solver = "sdca", any.tolerance = 1e-8;
    second = o;
    second.solver = "newton_cg";
    same(train(make_dataset(wide, true), any, {}), train(make_dataset(wide, true), second, {}));
  }
  // The lasso between two ends, one end and none: prox_newton alone takes it, and its dual values meet.
  Options lasso = logistic(0.01);
  lasso.l1_ratio = 1;
  lasso.bounds.assign(static_cast<std::size_t>(two.dimensions()), {-0.1, 0.2});
  lasso.bounds[0] = {0, infinity};
  if (lasso.bounds.size() > 1) lasso.bounds[1] = {0.05, 0.1};
  const Model model = train(make_dataset(two, true), lasso, {});
  EXPECT_EQ(model.solver, "prox_newton");
  EXPECT_EQ(model.status, Status::optimal) << model.certificate.relative_gap;
}

TEST(Bounds, OfWeightsThatMayNotBeZeroCountWhereAColumnIsEmpty) {
  Dataset thin(Dataset::Outcome::classes);
  for (const char* name : {"a", "b"}) thin.classes().intern(name, name[0] - 'a');
  Random random(5);
  for (int i = 0; i < 60; ++i) {
    const std::int32_t at[] = {7, 4000};
    const double x[] = {normal(random) + (i % 2), normal(random)};
    thin.append(sparse_row(at, x, 2, 5000), i % 2);
  }
  Options o = logistic(0.1);
  o.named_bounds = {{"3000", {0.5, 2}}, {"8", {-infinity, 0.01}}};
  const Model model = train(thin, o, {});
  EXPECT_EQ(model.status, Status::optimal);
  ASSERT_EQ(model.columns, (std::vector<std::int32_t>{7, 2999, 4000}));
  EXPECT_EQ(model.weights(0, 0), 0.01);
  EXPECT_EQ(model.weights(0, 1), 0.5);
  Options dense = o;
  o.named_bounds = {{"*", {0.001, 1}}};
  EXPECT_TRUE(train(thin, o, {}).columns.empty());
}

TEST(Bounds, AreSaidInTheUsersUnits) {
  Random random(6);
  const Table t = make_table(random, 5, false);  // columns of very different scale
  const Dataset data = make_dataset(t, false);
  for (const double rho : {0.0, 0.3}) {
    Options o;
    o.loss = "squared";
    o.lambda = 0.05;
    o.l1_ratio = rho;
    o.standardize = true;
    o.tolerance = 1e-9;
    for (int j = 0; j < t.dimensions(); ++j) o.bounds.push_back({-0.003, 0.002});
    const Model model = train(data, o, {});
    EXPECT_EQ(model.status, Status::optimal);
    int active = 0;
    for (const double w : model.weights.reshaped()) {
      EXPECT_TRUE(w >= -0.003 && w <= 0.002) << w;
      active += w == -0.003 || w == 0.002;
    }
    EXPECT_GT(active, 0);
    // Along a path as well.
    SelectionOptions path;
    path.settings = o;
    path.losses = {"squared"};
    path.lambdas = {0.05, 0.5};
    const std::vector<Model> models = train_path(data, path, Progress());
    EXPECT_NEAR(models[0].certificate.upper, model.certificate.upper, 1e-6 * model.certificate.upper);
    for (const Model& m : models)
      for (const double w : m.weights.reshaped()) EXPECT_TRUE(w >= -0.003 && w <= 0.002) << w;
  }
}

TEST(Bounds, StoredModelsAreVerified) {
  Random random(7);
  for (int trial = 0; trial < 12; ++trial) {
    Case c = random_case(random, trial % 2 == 0 ? "hinge" : "huber", trial);
    c.table.weight.clear();
    c.options.dual_weights = true;
    const Dataset data = make_dataset(c.table, c.classes);
    const Model model = train(data, c.options, {});
    Verification verification(model, c.options, true);
    for (std::int64_t i = 0; i < data.rows(); ++i)
      if (c.classes)
        verification.add(data.row(i), data.class_of(i), -1);
      else
        verification.add(data.row(i), data.target(i), data.target(i), -1);
    const VerifiedModel found = verification.result(Progress());
    ASSERT_TRUE(found.primal.has_value() && found.dual.has_value());
    EXPECT_NEAR(*found.primal, model.certificate.upper, 1e-9 * (1 + model.certificate.upper));
    EXPECT_NEAR(*found.dual, model.certificate.lower, 1e-9 * (1 + model.certificate.upper));
  }
}

std::string message_of(const Options& o, std::int32_t features) {
  try {
    weight_bounds(o, features);
  } catch (const Error& e) {
    return e.message();
  }
  return {};
}

TEST(Bounds, OptionsSayOneThing) {
  Options o;
  EXPECT_TRUE(weight_bounds(o, 3).empty());
  o.positive = true;
  EXPECT_EQ(weight_bounds(o, 3), (Bounds{{0}, {infinity}}));
  o.monotone = {{"2", false}};
  EXPECT_EQ(weight_bounds(o, 3), (Bounds{{0, 0, 0}, {infinity, 0, infinity}}));
  o.named_bounds = {{"*", {-1, 1}}, {"3", {0.5, 2}}};
  EXPECT_EQ(weight_bounds(o, 3), (Bounds{{0, 0, 0.5, 0}, {1, 0, 2, 1}}));
  const std::vector<std::int32_t> columns = {1, 2};
  EXPECT_EQ(weight_bounds(o, 3, &columns), (Bounds{{0, 0.5, 0}, {0, 2, 1}}));
  Options listed = o;
  list_bounds(listed, 3, &columns);
  EXPECT_EQ(weight_bounds(listed, 2), weight_bounds(o, 3, &columns));
  o.named_bounds["2"] = {0.1, 1};
  EXPECT_EQ(message_of(o, 3), "the options bounds, positive and monotone leave no weight for feature 2");
  o = Options();
  o.named_bounds = {{"4", {0, 1}}};
  EXPECT_EQ(message_of(o, 3), "option \"bounds\" names feature 4, the rows have 3 features");
  o.named_bounds = {{"age", {0, 1}}};
  EXPECT_EQ(message_of(o, 3), "option \"bounds\" names \"age\", and the features of these rows have numbers only");
  o.named_bounds.clear();
  o.bounds = {{0, 1}, {0, 1}};
  EXPECT_EQ(message_of(o, 3), "option \"bounds\" has 2 pairs, the rows have 3 features");
}

TEST(Bounds, NamesAreColumnsInTheirOwnUnits) {
  Column age, plan, income;
  age.name = "age", age.fill = {40}, age.center = {40}, age.scale = {10}, age.missing = true;
  plan.name = "plan", plan.kind = ColumnKind::category, plan.categories = {"gold", "silver"};
  income.name = "income", income.fill = {1}, income.thresholds = {10, 20, 30};
  const Encoder encoder({age, plan, income}, Missing::as_trained, true);
  Options o;
  o.named_bounds = {{"age", {-0.1, 0.3}}, {"plan=silver", {0, 1}}, {"*", {-2, 2}}};
  o.monotone = {{"income", true}};
  name_bounds(o, encoder);
  // age, age IS NULL, three steps of income, two plans.
  EXPECT_EQ(weight_bounds(o, 7), (Bounds{{-1, -2, 0, 0, 0, -2, 0, -2}, {3, 2, 2, 2, 2, 2, 1, 2}}));
  o = Options();
  o.named_bounds = {{"*", {-0.5, 0.5}}};
  name_bounds(o, encoder);
  EXPECT_EQ(weight_bounds(o, 7), (Bounds{{-5, -0.5}, {5, 0.5}}));
  const auto refused = [&](const Options& wrong) {
    Options own = wrong;
    try {
      name_bounds(own, encoder);
    } catch (const Error& e) {
      return std::string(e.message());
    }
    return std::string();
  };
  o.named_bounds = {{"aeg", {0, 1}}};
  EXPECT_EQ(refused(o), "option \"bounds\" names \"aeg\", which is not a column of these rows");
  o.named_bounds.clear();
  o.monotone = {{"plan", true}};
  EXPECT_EQ(refused(o), "option \"monotone\" names \"plan\", a column of category values");
  o.monotone.clear();
  o.bounds = {{0, 1}};
  EXPECT_EQ(refused(o), "option \"bounds\" is an array, and the rows have named columns");
}

}  // namespace
}  // namespace margin
