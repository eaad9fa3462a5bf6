// Constraints on several weights: the option in all its forms and units, every loss under them, what the multipliers prove, and what a
// constraint costs.
#include "core/problem/constraints.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "constrained_problems.hpp"
#include "core/base/error.hpp"
#include "core/certificate/risk.hpp"
#include "core/math/constrained_qp.hpp"
#include "core/model/verification.hpp"
#include "core/problem/bounds.hpp"
#include "core/report/model_rules.hpp"
#include "core/train/path.hpp"
#include "core/train/train.hpp"
#include "risk_problems.hpp"

namespace margin {
namespace {

using testing::make_dataset;
using testing::make_table;
using testing::normal;
using testing::Table;

/// D(a, ν) by itself: a certificate's lower end never exceeds its upper one.
double dual_of(const Problem& p, const Weights& w, const Eigen::VectorXd& intercept, const Weights& a) {
  RiskCheck check(objective_of(p), w.data(), p.intercept ? intercept.data() : nullptr, true);
  add_rows(check, p, a);
  return check.dual(0);
}

class UnderConstraintsEveryLoss : public ::testing::TestWithParam<std::string> {};

TEST_P(UnderConstraintsEveryLoss, ComesToTheOptimumUnderConstraintsAndProvesIt) {
  Random random(2);
  int active = 0;
  for (int trial = 0; trial < 64; ++trial) {
    const testing::ConstrainedCase c = testing::constrained_case(random, GetParam(), trial);
    const Dataset data = make_dataset(c.table, c.classes);
    const Problem p = make_problem(data, c.options);
    SCOPED_TRACE(GetParam() + " " + std::to_string(trial));
    const Model model = train(data, c.options, Progress());
    EXPECT_EQ(model.solver, "newton");
    EXPECT_EQ(model.status, Status::optimal) << " gap " << model.certificate.relative_gap;
    EXPECT_LE(p.constraints.missed(model.weights.data()), met_constraint);
    for (const ModelRule& rule : model_rules(model, c.options)) active += rule.active && rule.price != 0;
    // No other weights that meet them are better than the lower end says, be they near or far.
    const ConstrainedQp nearest{nullptr, {}, p.constraints.rows, p.constraints.lower, p.constraints.upper, {}, {}};
    for (int other = 0; other < 12; ++other) {
      ConstrainedQp qp = nearest;
      const double off = std::pow(10.0, -other / 2.0);
      for (std::int32_t j = 0; j < p.dimensions(); ++j) {
        qp.gradient.push_back(-(model.weights(0, j) + off * normal(random)));
        qp.low.push_back(p.bounds.least(static_cast<std::size_t>(j)));
        qp.high.push_back(p.bounds.most(static_cast<std::size_t>(j)));
      }
      const QpSolution at = solve_constrained_qp(qp, Progress());
      ASSERT_EQ(at.ending, QpSolution::Ending::solved);
      const Weights w = Eigen::Map<const Eigen::RowVectorXd>(at.d.data(), p.dimensions());
      const double b = p.intercept ? model.intercept(0) + (other % 2 == 0 ? off * normal(random) : 0.0) : 0.0;
      const double value =
          certify(p, w, Eigen::VectorXd::Constant(1, b - p.target_center), {}, nullptr, {}, nullptr).upper;
      EXPECT_LE(model.certificate.lower, value);
      EXPECT_LT(value, infinity);
    }
  }
  EXPECT_GT(active, 20);
}

TEST_P(UnderConstraintsEveryLoss, CertificatesHoldForAnyVectors) {
  Random random(3);
  int useful = 0;
  for (int trial = 0; trial < 64; ++trial) {
    const testing::ConstrainedCase c = testing::constrained_case(random, GetParam(), trial);
    const Dataset data = make_dataset(c.table, c.classes);
    Problem p = make_problem(data, c.options);
    Options own = c.options;
    own.dual_weights = true;
    const Model best = train(data, own, Progress());
    ASSERT_EQ(best.status, Status::optimal) << trial << " " << best.certificate.lower << " " << best.certificate.upper;
    Eigen::VectorXd b = best.intercept;
    b.array() -= p.target_center;
    for (const double off : {0.0, 1e-3, 0.1, 3.0}) {
      p.constraints.multipliers = -*best.constraint_prices;
      Weights a = *best.dual_weights;
      double size = 0.1;
      for (const double v : p.constraints.multipliers.reshaped()) size = std::max(size, std::fabs(v));
      for (double& v : a.reshaped()) v += off * normal(random);
      for (double& v : p.constraints.multipliers.reshaped()) v += off * size * normal(random);
      const double lower = dual_of(p, best.weights, b, a);
      EXPECT_LE(lower, best.certificate.upper) << GetParam() << ' ' << trial << ' ' << off;
      useful += lower > 0.5 * best.certificate.upper;
    }
    // Weights that miss one are no solution.
    Weights outside = best.weights;
    const SparseRows& rows = p.constraints.rows;
    const double end = std::isfinite(p.constraints.upper[0]) ? p.constraints.upper[0] : p.constraints.lower[0];
    const double way = std::isfinite(p.constraints.upper[0]) ? 1 : -1;
    const double by = end + way * 1e-9 * (1 + std::fabs(end)) - rows.product(0, outside.data());
    rows.add(0, by / (rows.norm(0) * rows.norm(0)), outside.data());
    EXPECT_EQ(certify(p, outside, b, {}, nullptr, {}, nullptr).upper, infinity);
  }
  EXPECT_GT(useful, 64);
}

INSTANTIATE_TEST_SUITE_P(Constraints, UnderConstraintsEveryLoss,
                         ::testing::Values("hinge", "smoothed_hinge", "squared_hinge", "logistic", "squared",
                                           "absolute", "epsilon_insensitive", "squared_epsilon_insensitive", "huber",
                                           "quantile", "poisson"),
                         [](const auto& info) { return info.param; });

Options logistic(double lambda) {
  Options o;
  o.loss = "logistic";
  o.lambda = lambda;
  o.tolerance = 1e-11;
  return o;
}

TEST(Constraints, APriceIsWhatTheOptimumChangesByPerUnitOfAnEnd) {
  Random random(4);
  for (const bool classes : {true, false}) {
    const Table t = make_table(random, 0, classes);
    const Dataset data = make_dataset(t, classes);
    Options o = logistic(0.05);
    if (!classes) o.loss = "squared";
    std::map<std::string, double> all;
    for (int j = 0; j < t.dimensions(); ++j) all[std::to_string(j + 1)] = 1 + 0.5 * j;
    for (const double sign : {1.0, -1.0}) {
      const auto at = [&](double end) {
        Options own = o;
        own.constraints = {{"sum", all}};
        (sign > 0 ? own.constraints[0].lower : own.constraints[0].upper) = end;
        return train(data, own, {});
      };
      const Model free = train(data, o, {});
      double at_free = 0;
      for (std::int32_t j = 0; j < free.terms(); ++j) at_free += (1 + 0.5 * j) * free.weights(0, j);
      const double end = at_free + sign, step = 1e-4;
      const Model model = at(end);
      Options own = o;
      own.constraints = {{"sum", all}};
      (sign > 0 ? own.constraints[0].lower : own.constraints[0].upper) = end;
      const std::vector<ModelRule> rules = model_rules(model, own);
      ASSERT_EQ(rules.size(), 1U);
      EXPECT_TRUE(rules[0].active);
      EXPECT_EQ(rules[0].name, "sum");
      EXPECT_NEAR(rules[0].value, end, 1e-12);
      const double slope = (at(end + step).certificate.upper - at(end - step).certificate.upper) / (2 * step);
      EXPECT_NEAR(rules[0].price, slope, 1e-4 * std::fabs(slope));
      EXPECT_GT(sign * rules[0].price, 0);
    }
  }
}

TEST(Constraints, BesideThemAPriceOfABoundIsOfTheOptimumUnderThem) {
  Random random(9);
  Table t = make_table(random, 0, true);
  for (std::vector<double>& x : t.x) x.resize(3, 0.5);
  const Dataset data = make_dataset(t, true);
  const auto at = [&](double end) {
    Options o = logistic(0.05);
    o.constraints = {{"sum", {{"1", 1.0}, {"2", 1.0}, {"3", -1.0}}, 1.5, 1.5}};
    o.named_bounds["1"] = {-infinity, end};
    return std::make_pair(train(data, o, {}), o);
  };
  const auto [model, options] = at(0.1);
  const std::vector<ModelRule> rules = model_rules(model, options);
  ASSERT_EQ(rules.size(), 2U);
  ASSERT_TRUE(rules[0].active);
  const double step = 1e-4,
               slope = (at(0.1 + step).first.certificate.upper - at(0.1 - step).first.certificate.upper) / (2 * step);
  EXPECT_LT(slope, -1e-3);
  EXPECT_NEAR(rules[0].price, slope, 1e-4 * std::fabs(slope));
}

/// Of two equal equations the multipliers may be of any size, with the sum that they should have; what they are rounded by is charged.
TEST(Constraints, MultipliersOfAnySizeProveNothingWrong) {
  Random random(10);
  int near = 0;
  for (int trial = 0; trial < 200; ++trial) {
    Table t = make_table(random, 0, true);
    for (std::vector<double>& x : t.x) x.resize(3, 0.5);
    const Dataset data = make_dataset(t, true);
    Options o = logistic(0.05);
    o.dual_weights = true;
    const NamedConstraint one = {"zero", {{"1", normal(random)}, {"2", normal(random)}, {"3", normal(random)}}, 0, 0};
    o.constraints = {one, one};
    const Model best = train(data, o, {});
    ASSERT_EQ(best.status, Status::optimal);
    Problem p = make_problem(data, o);
    const double sum = -best.constraint_prices->sum(), size = std::pow(10.0, 14 * random.uniform());
    p.constraints.multipliers = Weights::Zero(1, 2);
    p.constraints.multipliers << size, sum - size;
    const double lower = dual_of(p, best.weights, best.intercept, *best.dual_weights);
    EXPECT_LE(lower, best.certificate.upper) << trial << ' ' << size;
    near += lower > (1 - 1e-6) * best.certificate.upper;
  }
  EXPECT_GT(near, 20);
}

/// Sums that only weights of 0 meet have terms of rounding alone, and are met all the same.
TEST(Constraints, HoldWeightsAtZero) {
  Random random(11);
  for (int trial = 0; trial < 60; ++trial) {
    const char* const loss =
        std::vector<const char*>{"logistic", "hinge", "huber"}[static_cast<std::size_t>(trial) % 3];
    const bool classes = !is_regression_loss(loss);
    const Table t = make_table(random, 7, classes);
    if (t.dimensions() < 2) continue;
    const Dataset data = make_dataset(t, classes);
    Options o = logistic(0.01);
    o.loss = loss;
    o.tolerance = 1e-9;
    o.constraints = {{"a", {{"1", 1.0}, {"2", 3.0}}, -infinity, 0},
                     {"b", {{"1", 1.0}, {"2", -3.0}}, -infinity, 0},
                     {"c", {{"1", random.uniform() + 0.1}}, 0, infinity}};
    const Model m = train(data, o, {});
    EXPECT_EQ(m.status, Status::optimal) << trial;
    EXPECT_EQ(m.weights(0, 0), 0) << trial;
    EXPECT_EQ(m.weights(0, 1), 0) << trial;
  }
}

/// As bounds of single weights, which other solvers have: the same optimum and the same prices.
TEST(Constraints, OnSingleWeightsAreBounds) {
  Random random(5);
  for (const char* loss : {"logistic", "hinge", "huber"}) {
    const bool classes = !is_regression_loss(loss);
    const Table t = make_table(random, 7, classes);
    const Dataset data = make_dataset(t, classes);
    Options bounded = logistic(0.03);
    bounded.loss = loss;
    bounded.tolerance = 1e-9;
    Options constrained = bounded;
    for (int j = 0; j < t.dimensions(); ++j) {
      const std::string key = std::to_string(j + 1);
      bounded.named_bounds[key] = {-0.05, 0.02 * j};
      constrained.constraints.push_back({"w" + key, {{key, -2.0}}, -0.04 * j, 0.1});
    }
    const Model a = train(data, bounded, {}), b = train(data, constrained, {});
    EXPECT_EQ(a.status, Status::optimal);
    EXPECT_EQ(b.status, Status::optimal);
    EXPECT_NEAR(a.certificate.upper, b.certificate.upper, 1e-8 * a.certificate.upper);
    for (std::int32_t j = 0; j < a.terms(); ++j) {
      EXPECT_NEAR(a.weights(0, j), b.weights(0, j), 1e-4);
      EXPECT_NEAR((*a.prices)(0, j), -2 * (*b.constraint_prices)(0, j), 1e-3);
    }
  }
}

TEST(Constraints, HoldForSeveralClassesWideRowsAndAlongAPath) {
  Random random(6);
  const Table three = make_table(random, 0, true, 3);
  Options o = logistic(0.02);
  o.tolerance = 1e-8;
  o.constraints = {{"zero", {{"*", 1.0}}, 0, 0}};
  const Model classes = train(make_dataset(three, true, 3), o, {});
  EXPECT_EQ(classes.status, Status::optimal);
  ASSERT_EQ(classes.outputs(), 3);
  for (std::int32_t k = 0; k < 3; ++k) EXPECT_NEAR(classes.weights.row(k).sum(), 0, 1e-12);
  EXPECT_EQ(model_rules(classes, o).size(), 3U);
  for (const char* loss : {"logistic", "hinge"}) {
    Options wide = o;
    wide.loss = loss;
    const Table t = make_table(random, 6, true);
    const Model model = train(make_dataset(t, true), wide, {});
    EXPECT_EQ(model.status, Status::optimal);
    EXPECT_NEAR(model.weights.sum(), 0, 1e-12);
    SelectionOptions path;
    path.settings = wide;
    path.settings.lambda.reset();
    path.losses = {loss};
    path.lambdas = {0.5, 0.1, 0.02};
    const std::vector<Model> models = train_path(make_dataset(t, true), path, Progress());
    ASSERT_EQ(models.size(), 3U);
    EXPECT_NEAR(models[2].certificate.upper, model.certificate.upper, 1e-7 * model.certificate.upper);
    for (const Model& m : models) EXPECT_NEAR(m.weights.sum(), 0, 1e-12);
  }
}

TEST(Constraints, OfColumnsThatNoRowHasCount) {
  Dataset thin(Dataset::Outcome::classes);
  for (const char* name : {"a", "b"}) thin.classes().intern(name, name[0] - 'a');
  Random random(5);
  for (int i = 0; i < 60; ++i) {
    const std::int32_t at[] = {7, 4000};
    const double x[] = {normal(random) + (i % 2), normal(random)};
    thin.append(sparse_row(at, x, 2, 5000), i % 2);
  }
  Options o = logistic(0.1);
  o.constraints = {{"with an empty column", {{"8", 1.0}, {"3000", 1.0}}, 2, 2}};
  const Model model = train(thin, o, {});
  EXPECT_EQ(model.status, Status::optimal);
  ASSERT_EQ(model.columns, (std::vector<std::int32_t>{7, 2999, 4000}));
  EXPECT_NEAR(model.weights(0, 0) + model.weights(0, 1), 2, 1e-12);
  const std::vector<ModelRule> rules = model_rules(model, o);
  ASSERT_EQ(rules.size(), 1U);
  EXPECT_NEAR(rules[0].value, 2, 1e-12);
  Options all = o;
  all.constraints = {{"all", {{"*", 1.0}}, 1, 1}};
  EXPECT_THROW(train(thin, all, {}), Error);  // 5,000 features under one constraint
}

TEST(Constraints, AreSaidInTheUsersUnits) {
  Random random(6);
  const Table t = make_table(random, 5, false);  // columns of very different scale
  const Dataset data = make_dataset(t, false);
  Options o;
  o.loss = "squared";
  o.lambda = 0.05;
  o.standardize = true;
  o.tolerance = 1e-10;
  std::map<std::string, double> weights;
  for (int j = 0; j < t.dimensions(); ++j) weights[std::to_string(j + 1)] = j % 2 == 0 ? 1 : -3;
  o.constraints = {{"of all", weights, 0.5, 0.5}};
  const Model model = train(data, o, {});
  EXPECT_EQ(model.status, Status::optimal);
  double sum = 0;
  for (std::int32_t j = 0; j < model.terms(); ++j) sum += (j % 2 == 0 ? 1 : -3) * model.weights(0, j);
  EXPECT_NEAR(sum, 0.5, 1e-12);
  Options lower = o, upper = o;
  lower.constraints[0].lower = lower.constraints[0].upper = 0.4999;
  upper.constraints[0].lower = upper.constraints[0].upper = 0.5001;
  const double slope = (train(data, upper, {}).certificate.upper - train(data, lower, {}).certificate.upper) / 2e-4;
  EXPECT_NEAR(model_rules(model, o).at(0).price, slope, 1e-4 * std::fabs(slope));
}

TEST(Constraints, StoredModelsAreVerified) {
  Random random(7);
  for (int trial = 0; trial < 16; ++trial) {
    testing::ConstrainedCase c = testing::constrained_case(random, trial % 2 == 0 ? "hinge" : "huber", trial);
    c.table.weight.clear();
    c.options.dual_weights = true;
    const Dataset data = make_dataset(c.table, c.classes);
    Model model = train(data, c.options, {});
    const auto verified = [&] {
      Verification verification(model, c.options, true);
      for (std::int64_t i = 0; i < data.rows(); ++i)
        if (c.classes)
          verification.add(data.row(i), data.class_of(i), -1);
        else
          verification.add(data.row(i), data.target(i), data.target(i), -1);
      return verification.result(Progress());
    };
    const VerifiedModel found = verified();
    ASSERT_TRUE(found.primal.has_value() && found.dual.has_value());
    EXPECT_NEAR(*found.primal, model.certificate.upper, 1e-9 * (1 + model.certificate.upper));
    EXPECT_NEAR(*found.dual, model.certificate.lower, 1e-9 * (1 + model.certificate.upper));
    // Of multipliers that are not there the dual weights prove less, and nothing wrong.
    model.constraint_prices.reset();
    EXPECT_LE(*verified().dual, model.certificate.upper);
  }
}

std::string refused(const Table& t, const Options& o) {
  try {
    train(make_dataset(t, true), o, {});
  } catch (const Error& e) {
    return e.message();
  }
  return "no error";
}

TEST(Constraints, ThatContradictEachOtherAreNamed) {
  Random random(8);
  Table t = make_table(random, 0, true);
  for (std::vector<double>& x : t.x) x.resize(3, 0.5);
  Options o = logistic(0.1);
  o.constraints = {{"a below b", {{"1", 1.0}, {"2", -1.0}}, -infinity, -1.0},
                   {"harmless", {{"1", 1.0}, {"3", 2.0}}, -5.0, 5.0},
                   {"b below a", {{"2", 1.0}, {"1", -1.0}}, -infinity, 0.5}};
  EXPECT_EQ(refused(t, o), "no weights meet the constraints \"a below b\" and \"b below a\"");
  o.constraints.pop_back();
  EXPECT_EQ(refused(t, o), "no error");
  o.bounds = {{-1, 0}, {-1, -0.5}, {-1, 1}};
  EXPECT_EQ(refused(t, o), "no weights meet the constraint \"a below b\" together with the bounds");
  o.bounds.clear();
  o.constraints = {{"nobody", {{"7", 1.0}}, 0, 1}};
  EXPECT_EQ(refused(t, o), "option \"constraints\" names feature 7, the rows have 3 features");
  o.constraints = {{"nobody", {{"age", 1.0}}, 0, 1}};
  EXPECT_EQ(refused(t, o), "option \"constraints\" names \"age\", and the features of these rows have numbers only");
  o.constraints = {{"one", {{"1", 1.0}}, 0, 1}};
  for (const auto& change : std::vector<std::pair<const char*, std::function<void(Options&)>>>{
           {"a hard margin", [](Options& s) { s.lambda.reset(), s.loss.clear(); }},
           {"a kernel model", [](Options& s) { s.kernel = "rbf", s.loss = "hinge"; }},
           {"lambda => 0", [](Options& s) { s.lambda = 0; }},
           {"multiclass => 'joint'", [](Options& s) { s.multiclass = Multiclass::joint; }},
           {"an l1_ratio above 0", [](Options& s) { s.l1_ratio = 0.5; }}}) {
    Options own = o;
    change.second(own);
    EXPECT_EQ(refused(t, own), std::string("option \"constraints\" is not used with ") + change.first);
  }
}

TEST(Constraints, NamesAreColumnsInTheirOwnUnits) {
  Column age, plan, income;
  age.name = "age", age.fill = {40}, age.center = {40}, age.scale = {10}, age.missing = true;
  plan.name = "plan", plan.kind = ColumnKind::category, plan.categories = {"gold", "silver"};
  income.name = "income", income.fill = {1}, income.thresholds = {10, 20, 30};
  const Encoder encoder({age, plan, income}, Missing::as_trained, true);
  // age, age IS NULL, three steps of income, two plans.
  const auto named = [&](std::map<std::string, double> weights) {
    Options o;
    o.constraints = {{"sum", std::move(weights), 0, 1}};
    name_constraints(o, encoder);
    const Constraints c = weight_constraints(o, 7);
    std::vector<double> out(7, 0.0);
    c.rows.add(0, 1, out.data());
    return out;
  };
  EXPECT_EQ(named({{"age", 2}, {"income", -1}, {"plan=silver", 3}}), (std::vector<double>{0.2, 0, -1, -1, -1, 0, 3}));
  EXPECT_EQ(named({{"age", 2}, {"*", 1}}), (std::vector<double>{0.2, 1, 1, 1, 1, 1, 1}));
  const auto refused = [&](std::map<std::string, double> weights) {
    try {
      named(std::move(weights));
    } catch (const Error& e) {
      return std::string(e.message());
    }
    return std::string();
  };
  EXPECT_EQ(refused({{"aeg", 1}}), "option \"constraints\" names \"aeg\", which is not a column of these rows");
  // Which of the two coefficients would be meant?
  EXPECT_EQ(refused({{"plan", 1}, {"plan=gold", 2}}), "option \"constraints\" names the feature \"plan=gold\" twice");
  EXPECT_EQ(refused({{"1", 1}, {"age", 2}}), "option \"constraints\" names the feature \"age\" twice");
}

}  // namespace
}  // namespace margin
