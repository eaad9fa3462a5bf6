// Looking at a model: the order of weights, what an interval implies, the summary, and the PMML document.
#include "core/report/inspect.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/base/random.hpp"
#include "core/formats/pmml.hpp"
#include "core/train/train.hpp"

namespace margin {
namespace {

TEST(Inspect, WeightsComeByFallingSizeAndTiesByFeatureThenOutput) {
  Model model;
  model.weights = (Weights(2, 3) << 1, -3, 0, 3, 2, -0.0).finished();
  const auto entries = weights_by_size(model);
  std::vector<std::pair<std::int32_t, std::int32_t>> order;
  for (const WeightEntry& e : entries) order.emplace_back(e.output, e.feature);
  const std::vector<std::pair<std::int32_t, std::int32_t>> expected = {{1, 0}, {0, 1}, {1, 1}, {0, 0}, {0, 2}, {1, 2}};
  EXPECT_EQ(order, expected);
  EXPECT_EQ(entries[1].weight, -3);
}

/// Two separable clouds (`shift` > 1) or overlapping ones.
Dataset clouds(std::uint64_t seed, double shift) {
  Dataset data(Dataset::Outcome::classes);
  Random random(seed);
  const std::int32_t classes[] = {data.classes().intern("a", 0), data.classes().intern("b", 0)};
  for (int i = 0; i < 60; ++i) {
    double x[4];
    for (double& v : x) v = 2 * random.uniform() - 1;
    x[0] += i % 2 == 0 ? shift : -shift;
    data.append(dense_row(x, 4), classes[i % 2]);
  }
  return data;
}

Model fit(const Dataset& data, Options options, double tolerance) {
  Progress progress;
  options.tolerance = tolerance;
  return train(data, options, progress);
}

TEST(Inspect, TheOptimalDirectionIsWithinTheDistanceOfAHardMargin) {
  int loose = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Dataset data = clouds(seed, 1.2);
    Options options;
    const Model best = fit(data, options, 1e-9);
    options.solver = "momentum";
    for (const double tolerance : {0.5, 0.1, 0.01}) {
      const Model model = fit(data, options, tolerance);
      const auto interval = interval_of(model, options);
      ASSERT_TRUE(interval.has_value());
      if (!(interval->lower > 0)) {
        EXPECT_FALSE(interval->distance.has_value());
        continue;
      }
      const double distance = (model.weights - best.weights).norm();
      EXPECT_LE(distance, *interval->distance + *interval_of(best, options)->distance);
      EXPECT_NEAR(interval->relative_gap, model.certificate.relative_gap, 1e-12);
      loose += distance > *interval->distance / 100;
    }
  }
  EXPECT_GT(loose, 10) << "the bound says something";
}

TEST(Inspect, TheOptimalWeightsAreWithinTheDistanceOfASoftMargin) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Dataset data = clouds(seed, 0.3);
    Options options;
    options.lambda = 0.01;
    const Model best = fit(data, options, 1e-10);
    for (const double tolerance : {0.5, 0.1, 0.01}) {
      const Model model = fit(data, options, tolerance);
      const auto interval = interval_of(model, options);
      ASSERT_TRUE(interval.has_value());
      const double distance =
          std::hypot((model.weights - best.weights).norm(), (model.intercept - best.intercept).norm());
      EXPECT_LE(distance, *interval->distance + *interval_of(best, options)->distance);
    }
  }
}

TEST(Inspect, AnIntervalOfWidthZeroHasNoDistance) {
  Model m;
  Certificate& c = m.certificate;
  c.lower = c.upper = 2;
  EXPECT_EQ(interval_of(m, {})->distance, 0);
  m.lambda = 0.1;
  m.loss = "hinge";
  EXPECT_EQ(interval_of(m, {})->distance, 0);
  c.lower = c.upper = 0;
  EXPECT_EQ(interval_of(m, {})->relative_gap, 0);
  c.upper = std::nan("");
  EXPECT_FALSE(interval_of(m, {}).has_value());
}

TEST(Inspect, TheSummaryNamesWhatTheModelTells) {
  const Dataset data = clouds(1, 0.3);
  Options options;
  options.lambda = 0.01;
  Model model = fit(data, options, 1e-3);
  model.solver = "sdca";
  model.iterations = 1;
  const std::string text = summary(model, options);
  for (const char* part : {"soft margin, loss hinge, lambda 0.01", "2 (a, b)", "features:     4", "60",
                           "sdca, 1 iteration, ", "optimal", "between ", "feature 1 "})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  model.rows.reset();
  EXPECT_EQ(summary(model, options).find("rows:"), std::string::npos);
}

TEST(Inspect, OptionsAreCheckedByTheirParser) {
  EXPECT_EQ(refusal_of({{"lambda", {0.5}}}), "");
  EXPECT_NE(refusal_of({{"lambda", {-0.5}}}).find("lambda"), std::string::npos);
}

struct PmmlExample {
  Model model;
  std::vector<std::string> names;
  PmmlExample() {
    model.classes = {"no", "yes"};
    model.weights = (Weights(1, 2) << 0.5, -1e-30).finished();
    model.intercept = Eigen::VectorXd::Constant(1, 0.25);
    model.dimensions = 2;
  }
  std::string document() const { return pmml(model, names, "1.2"); }
};

TEST(Pmml, TheDocumentOfTwoClasses) {
  PmmlExample e;
  EXPECT_EQ(e.document(), R"(<?xml version="1.0"?>
<PMML version="4.4" xmlns="http://www.dmg.org/PMML-4_4">
  <Header>
    <Application name="margin" version="1.2"/>
  </Header>
  <DataDictionary numberOfFields="3">
    <DataField name="x1" optype="continuous" dataType="double"/>
    <DataField name="x2" optype="continuous" dataType="double"/>
    <DataField name="target" optype="categorical" dataType="string">
      <Value value="no"/>
      <Value value="yes"/>
    </DataField>
  </DataDictionary>
  <RegressionModel functionName="classification" normalizationMethod="softmax">
    <MiningSchema>
      <MiningField name="x1"/>
      <MiningField name="x2"/>
      <MiningField name="target" usageType="target"/>
    </MiningSchema>
    <RegressionTable intercept="0.25" targetCategory="yes">
      <NumericPredictor name="x1" coefficient="0.5"/>
      <NumericPredictor name="x2" coefficient="-1e-30"/>
    </RegressionTable>
    <RegressionTable intercept="0" targetCategory="no"/>
  </RegressionModel>
</PMML>
)");
}

TEST(Pmml, NamesAreEscapedAndNeverCollide) {
  PmmlExample e;
  e.model.lambda = 0.1;
  e.model.loss = "logistic";
  e.model.classes = {"a&b", "c<\"d\">"};
  e.names = {"target", "line\nbreak"};
  const std::string text = e.document();
  for (const char* part :
       {"\"target_\" optype=\"categorical\"", "name=\"line&#10;break\"", "targetCategory=\"c&lt;&quot;d&quot;&gt;\"",
        "value=\"a&amp;b\"", "name=\"probability(a&amp;b)\"", "feature=\"probability\""})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
}

TEST(Pmml, ARegressionHasNoCategories) {
  PmmlExample e;
  e.model.task = Task::regression;
  e.model.classes.clear();
  const std::string text = e.document();
  EXPECT_NE(text.find("functionName=\"regression\" normalizationMethod=\"none\""), std::string::npos);
  EXPECT_EQ(text.find("targetCategory"), std::string::npos);
  EXPECT_EQ(text.find("categorical"), std::string::npos);
}

TEST(Pmml, BadNamesAreRefused) {
  const std::vector<std::vector<std::string>> bad = {{"a"},     {"a", "b", "c"}, {"a", "a"},
                                                     {"a", ""}, {"a", "\x01"},   {"a", "\xEF\xBF\xBF"}};
  for (const auto& names : bad) {
    PmmlExample e;
    e.names = names;
    EXPECT_THROW(e.document(), Error) << names.back();
  }
}

}  // namespace
}  // namespace margin
