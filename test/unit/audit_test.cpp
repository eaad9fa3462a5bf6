// What an audit proves of weights from anywhere: the optimum, found by a training of its own, never lies outside.
#include "core/consequences/audit/audit.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/analysis/model_audit.hpp"
#include "core/train/train.hpp"
#include "risk_problems.hpp"

namespace margin {
namespace {

using testing::make_dataset;
using testing::make_table;
using testing::normal;
using testing::Table;

struct Trial {
  Table table;
  bool classes = true;
  int number_of_classes = 2;
  Options options;
};

Trial make_trial(Random& random, int number) {
  Trial t;
  const auto& losses = loss_names();
  t.options.loss = std::string(losses[static_cast<std::size_t>(number) % losses.size()]);
  t.classes = !is_regression_loss(t.options.loss);
  t.number_of_classes = t.classes && number % 5 == 4 ? 3 : 2;
  t.table = testing::labels_for(t.options.loss, make_table(random, number % 8, t.classes, t.number_of_classes));
  if (!t.classes) t.table.y[0] = 2;
  t.options.lambda = std::pow(10.0, -3.5 * random.uniform());
  const int intercept = static_cast<int>(random.below(3));
  t.options.intercept = intercept > 0;
  t.options.intercept_form = intercept == 1 ? InterceptForm::free : InterceptForm::penalized;
  t.options.intercept_scale = intercept == 2 ? 0.5 + random.uniform() : 1;
  if (random.below(3) == 0)
    for (int i = 0; i < t.table.rows(); ++i) t.table.weight.push_back(std::floor(4 * random.uniform()) / 2 + 0.5);
  if (t.classes && random.below(4) == 0) t.options.class_weight["1"] = 2.5;
  if (intercept == 2 && random.below(5) == 0) t.options.l1_ratio = 0.4;
  if (t.options.l1_ratio > 0 && (t.options.loss == "logistic" || t.options.loss == "squared") && random.below(2) == 0)
    t.options.penalty_factor.assign(static_cast<std::size_t>(t.table.dimensions()), 0.5);
  return t;
}

void add_rows(ModelAudit& audit, const Model& model, const Trial& t, int from, int step) {
  for (int i = from; i < t.table.rows(); i += step) {
    const auto at = static_cast<std::size_t>(i);
    const FeatureRow x = dense_row(t.table.x[at].data(), t.table.dimensions());
    const double weight = t.table.weight.empty() ? 1.0 : t.table.weight[at];
    if (model.regression())
      audit.add(x, t.table.y[at], weight, -1);
    else
      audit.add(x, static_cast<std::int32_t>(t.table.y[at]), weight, -1);
  }
}

Model trained(const Dataset& data, Options options, double tolerance, std::int64_t iterations) {
  options.tolerance = tolerance;
  options.max_iterations = iterations;
  Progress progress;
  return train(data, options, progress);
}

TEST(Audit, HoldsTheOptimum) {
  Random random(17);
  const Progress progress;
  std::vector<double> tightness;
  int checked = 0, proven = 0;
  for (int number = 0; number < 110; ++number) {
    const Trial t = make_trial(random, number);
    const Dataset data = make_dataset(t.table, t.classes, t.number_of_classes);
    const Model best = trained(data, t.options, 1e-12, 3000);
    Model model = best;
    const int kind = number % 4;
    if (kind == 1) model = trained(data, t.options, 1e-2, 20);
    if (kind == 2)
      for (double& v : model.weights.reshaped()) v *= 1 + 0.1 * normal(random);
    if (kind == 3)
      for (double& v : model.weights.reshaped()) v = normal(random);
    ModelAudit audit(model, t.options, {});
    add_rows(audit, model, t, 0, 1);
    const AuditFigures found = audit.result(progress);
    EXPECT_EQ(found.rows, t.table.rows());
    EXPECT_LE(found.found.dual, best.certificate.upper) << t.options.loss << ", trial " << number;
    EXPECT_GE(found.found.primal, best.certificate.lower) << t.options.loss << ", trial " << number;
    ++checked;
    proven += found.found.dual > 0;
    if (kind == 0 && best.certificate.relative_gap < 1e-9)
      tightness.push_back((found.found.primal - found.found.dual) / found.found.primal);
    if (!found.best.has_value()) continue;
    EXPECT_LE(found.best->gap(), found.found.gap());
    Options there = t.options;
    there.lambda = found.best->lambda;
    if (!(there.lambda > 1e-7) || !(there.lambda < 1e6)) continue;
    const Model other = trained(data, there, 1e-9, 2000);
    EXPECT_LE(found.best->dual, other.certificate.upper) << t.options.loss << ", trial " << number;
    // An optimum of regressions has a center of its own only where the intercept is penalised.
    EXPECT_GE(found.best->primal, other.certificate.lower) << t.options.loss << ", trial " << number;
  }
  std::sort(tightness.begin(), tightness.end());
  RecordProperty("median_at_the_optimum", std::to_string(tightness[tightness.size() / 2]));
  EXPECT_LT(tightness[tightness.size() / 2], 1e-3);
  EXPECT_GT(proven, checked / 2);
}

/// Near the optimum of a loss with kinks the audit finds the dual values that scores do not tell.
TEST(Audit, IsTightForKinkedLosses) {
  Random random(23);
  const Progress progress;
  std::vector<double> slack;
  int near = 0;
  for (int number = 0; number < 48; ++number) {
    const char* const losses[] = {"hinge", "absolute", "epsilon_insensitive", "quantile"};
    Trial t;
    t.options.loss = losses[number % 4];
    t.classes = !is_regression_loss(t.options.loss);
    t.options.lambda = std::pow(10.0, -1 - 2 * random.uniform());
    const int intercept = number / 4 % 3;
    t.options.intercept = intercept > 0;
    t.options.intercept_form = intercept == 1 ? InterceptForm::free : InterceptForm::penalized;
    t.table.x.clear();
    const int n = number == 0 ? 6000 : 200;  // the first has more rows than are kept
    for (int i = 0; i < n; ++i) {
      std::vector<double> x(4);
      for (double& v : x) v = normal(random);
      const double signal = x[0] - 0.5 * x[1] + 0.3 + normal(random);
      t.table.y.push_back(t.classes ? (signal > 0 ? 1 : 0) : signal);
      t.table.x.push_back(std::move(x));
      if (number % 5 == 0) t.table.weight.push_back(1 + i % 3);
    }
    const Dataset data = make_dataset(t.table, t.classes, 2);
    const Model model = trained(data, t.options, 1e-9, 5000);
    ModelAudit audit(model, t.options, {});
    add_rows(audit, model, t, 0, 1);
    const AuditFigures found = audit.result(progress);
    EXPECT_LE(found.found.dual, model.certificate.upper) << t.options.loss << ", trial " << number;
    EXPECT_GE(found.found.primal, model.certificate.lower) << t.options.loss << ", trial " << number;
    slack.push_back(found.found.gap() / found.found.primal);
    EXPECT_LT(slack.back(), 0.01) << t.options.loss << ", intercept " << intercept << ", trial " << number;
    ASSERT_TRUE(found.best.has_value());
    // Another lambda may have a smaller gap by chance, seldom one far away.
    near += std::fabs(std::log10(found.best->lambda / *t.options.lambda)) < 0.5;
  }
  std::sort(slack.begin(), slack.end());
  RecordProperty("median_of_kinked_losses", std::to_string(slack[slack.size() / 2]));
  RecordProperty("best_lambda_near", near);
  EXPECT_LT(slack[slack.size() / 2], 1e-3);
  EXPECT_GT(near, 36);
}

/// Columns of several scales are slow for an ascent by coordinates, and the lambda that weights were trained with is told apart from
/// the one that was asked for.
TEST(Audit, FindsTheLambdaOfSlowProblems) {
  Random random(29);
  const Progress progress;
  std::vector<double> own, found_gaps;
  int near = 0;
  for (int number = 0; number < 24; ++number) {
    Trial t;
    t.options.loss = number % 2 == 0 ? "hinge" : "absolute";
    t.classes = number % 2 == 0;
    t.options.lambda = std::pow(10.0, -2 - 2 * random.uniform());
    t.options.intercept_form = InterceptForm::penalized;
    t.table.x.clear();
    for (int i = 0; i < 600; ++i) {
      std::vector<double> x(8);
      for (std::size_t j = 0; j < x.size(); ++j) x[j] = normal(random) * std::pow(2.0, static_cast<double>(j) - 4);
      const double signal = 2 * x[0] - x[7] / 8 + 0.3 + normal(random);
      t.table.y.push_back(t.classes ? (signal > 0 ? 1 : 0) : signal);
      t.table.x.push_back(std::move(x));
    }
    const Dataset data = make_dataset(t.table, t.classes, 2);
    const Model model = trained(data, t.options, 1e-8, 20000);
    ModelAudit audit(model, t.options, {}), other(model, t.options, {50 * *t.options.lambda});
    add_rows(audit, model, t, 0, 1);
    add_rows(other, model, t, 0, 1);
    const AuditFigures at = audit.result(progress), away = other.result(progress);
    EXPECT_LE(at.found.dual, model.certificate.upper);
    own.push_back(at.found.gap() / at.found.primal);
    ASSERT_TRUE(away.best.has_value());
    found_gaps.push_back(away.best->gap() / away.best->primal);
    // Where lambda is small it is of little weight in the objective.
    near += std::fabs(std::log10(away.best->lambda / *t.options.lambda)) < 0.7;
  }
  std::sort(own.begin(), own.end());
  std::sort(found_gaps.begin(), found_gaps.end());
  EXPECT_LT(own[12], 2e-3);
  EXPECT_LT(found_gaps[12], 3e-3);
  EXPECT_GE(near, 18);
}

TEST(Audit, AddsUpFromParts) {
  Random random(5);
  const Progress progress;
  for (int number = 0; number < 22; ++number) {
    const Trial t = make_trial(random, number);
    const Model model = trained(make_dataset(t.table, t.classes, t.number_of_classes), t.options, 1e-3, 50);
    ModelAudit whole(model, t.options, {}), one(model, t.options, {}), other(model, t.options, {});
    add_rows(whole, model, t, 0, 1);
    add_rows(one, model, t, 0, 2);
    add_rows(other, model, t, 1, 2);
    ASSERT_TRUE(one.merge(other.state(), -1));
    const AuditFigures a = whole.result(progress), b = one.result(progress);
    EXPECT_EQ(a.rows, b.rows);
    EXPECT_EQ(a.errors, b.errors);
    EXPECT_NEAR(a.found.primal, b.found.primal, 1e-12 * a.found.primal);
    EXPECT_NEAR(a.found.dual, b.found.dual, 1e-7 * a.found.primal) << t.options.loss;
    std::vector<double> state = one.state();
    state.pop_back();
    EXPECT_FALSE(one.merge(state, -1));
  }
}

}  // namespace
}  // namespace margin
