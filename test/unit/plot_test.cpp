// Charts: ticks, the drawing, and what the four charts show.
#include "core/report/plot.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/base/error.hpp"
#include "core/formats/xml.hpp"
#include "core/report/charts.hpp"

namespace margin {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

PlotScale scale(bool logarithmic, const std::vector<double>& values) {
  PlotAxis axis;
  axis.logarithmic = logarithmic;
  PlotRange range(axis);
  for (const double v : values) range.include(v);
  return PlotScale(axis, range, 0, 100);
}

std::vector<std::string> labels(const PlotScale& s) {
  std::vector<std::string> out;
  for (const PlotTick& tick : s.ticks())
    if (!tick.label.empty()) out.push_back(tick.label);
  return out;
}

using Strings = std::vector<std::string>;

TEST(PlotAxis, LinearTicksAreRoundAndLabelledWithAsManyDecimalsAsTheyNeed) {
  EXPECT_EQ(labels(scale(false, {0.03, 0.98})), (Strings{"0", "0.2", "0.4", "0.6", "0.8", "1.0"}));
  EXPECT_EQ(labels(scale(false, {-70, 160})), (Strings{"-100", "-50", "0", "50", "100", "150", "200"}));
  EXPECT_EQ(labels(scale(false, {0.8175561, 0.8175569})),
            (Strings{"0.8175560", "0.8175562", "0.8175564", "0.8175566", "0.8175568", "0.8175570"}));
  EXPECT_EQ(labels(scale(false, {0, 3e6})), (Strings{"0", "1e6", "2e6", "3e6"}));
  EXPECT_EQ(labels(scale(false, {0, 4e-7})), (Strings{"0", "1e-7", "2e-7", "3e-7", "4e-7"}));
}

TEST(PlotAxis, LogarithmicTicksAreDecadesAndSomeBetweenWhereThereIsRoom) {
  EXPECT_EQ(labels(scale(true, {1, 3178})), (Strings{"1", "10", "100", "1000"}));
  EXPECT_EQ(labels(scale(true, {3e-7, 0.9})), (Strings{"1e-6", "1e-5", "0.0001", "0.001", "0.01", "0.1", "1"}));
  EXPECT_EQ(labels(scale(true, {12, 90})), (Strings{"10", "20", "50", "100"}));
  EXPECT_LE(labels(scale(true, {1e-300, 1e300})).size(), 9U);
}

TEST(PlotAxis, EveryRangeHasAScaleWithFinitePositions) {
  const double tiny = std::numeric_limits<double>::denorm_min(), huge = std::numeric_limits<double>::max();
  const std::vector<std::vector<double>> ranges = {{},           {0},        {5, 5},           {-huge, huge},
                                                   {tiny, tiny}, {0, tiny},  {huge, huge},     {tiny, huge},
                                                   {NAN},        {infinity}, {1, 1 + 1e-16},   {-infinity, -3, 2},
                                                   {1e300},      {-1e-300},  {1e15, 1e15 + 1}, {0.1, 0.1 + 1e-9}};
  for (const bool logarithmic : {false, true}) {
    for (const auto& values : ranges) {
      const PlotScale s = scale(logarithmic, values);
      EXPECT_LE(s.ticks().size(), 60U);
      EXPECT_LT(s.low(), s.high());
      for (const double v : values) {
        if (!s.shows(v)) continue;
        EXPECT_GE(s.at(v), 0) << v;
        EXPECT_LE(s.at(v), 100) << v;
      }
    }
  }
}

TEST(PlotAxis, PositionsAreProportional) {
  const PlotScale linear = scale(false, {0, 10}), logarithmic = scale(true, {1, 10000});
  EXPECT_DOUBLE_EQ(linear.at(2.5), 25);
  EXPECT_DOUBLE_EQ(logarithmic.at(100), 50);
  EXPECT_FALSE(logarithmic.shows(0));
  EXPECT_TRUE(linear.shows(0));
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(Plot, TextsAreEscapedAndTheChartHasANameAndADescription) {
  EXPECT_EQ(xml_text("a<b & \"c\">\n\x01\xEF\xBF\xBF."), "a&lt;b &amp; &quot;c&quot;&gt;&#10;&#65533;&#65533;.");
  Plot plot;
  plot.title = "a < b";
  plot.description = "x & y";
  plot.panels.resize(1);
  const std::string text = svg(plot);
  EXPECT_EQ(text.rfind("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"720\" height=\"330\"", 0), 0U);
  EXPECT_EQ(count(text, "<title>a &lt; b</title>"), 1U);
  EXPECT_EQ(count(text, "<desc>x &amp; y</desc>"), 1U);
}

TEST(Plot, LongSeriesAreThinnedWithoutLosingTheirExtremes) {
  Plot plot;
  plot.panels.resize(1);
  PlotSeries s;
  s.name = "noise";
  for (int i = 0; i < 1000000; ++i)
    s.points.push_back({static_cast<double>(i), i == 777777 ? 40.0 : std::sin(i), 0, 0});
  plot.panels[0].series = {s};
  const std::string text = svg(plot);
  EXPECT_LT(text.size(), 60000U);
  EXPECT_EQ(count(text, ",60L") + count(text, ",60\""), 1U) << "the outlier touches the top";
}

TEST(Plot, WhatAnAxisCannotShowIsLeftOut) {
  Plot plot;
  plot.panels.resize(1);
  plot.panels[0].y.logarithmic = true;
  PlotSeries s;
  s.points = {{0, infinity, 0, 0}, {1, 0, 0, 0}, {2, 10, 0, 0}, {3, NAN, 0, 0}, {4, 1, 0, 0}};
  plot.panels[0].series = {s};
  const std::string text = svg(plot);
  EXPECT_EQ(count(text, "nan") + count(text, "inf"), 0U);
  EXPECT_EQ(count(text, "d=\"M392,60L696,280\""), 1U) << text;
}

// The charts ------------------------------------------------------------------------------------------------------

Model model_of(bool hard, std::vector<TracePoint> history) {
  Model m;
  m.solver = "momentum";
  m.status = Status::optimal;
  if (!hard) {
    m.lambda = 0.1;
    m.loss = "hinge";
  }
  m.certificate.lower = 0.5;
  m.certificate.upper = 0.5004;
  m.history = std::move(history);
  return m;
}

TEST(Charts, AHistoryShowsTheIntervalAndItsRelativeWidth) {
  const std::vector<TracePoint> history = {{1, 0.1, 0.25, infinity}, {2, 0.2, 0.4, 0.8}, {60, 0.3, 0.5, 0.5004}};
  const Plot plot = history_plot(model_of(true, history), {});
  EXPECT_EQ(plot.title, "momentum: optimal after 60 iterations");
  EXPECT_NE(plot.description.find("from 0.5 to 0.5004, relative width 0.0008."), std::string::npos) << plot.description;
  ASSERT_EQ(plot.panels.size(), 2U);
  EXPECT_TRUE(plot.panels[0].x.logarithmic);
  ASSERT_EQ(plot.panels[0].series.size(), 3U);
  EXPECT_EQ(plot.panels[0].series[1].name, "margin_lower");
  EXPECT_EQ(plot.panels[0].series[2].points[1].y, 0.8);
  EXPECT_DOUBLE_EQ(plot.panels[1].series[0].points[1].y, 0.5);
  EXPECT_EQ(plot.panels[1].series[1].points[0].y, 0.001);
  EXPECT_EQ(history_plot(model_of(false, history), {}).panels[0].series[1].name, "dual");
}

TEST(Charts, IterationsOfSeveralOutputsAddUp) {
  const std::vector<TracePoint> history = {{1, 0, 1, 2}, {7, 0, 1, 2}, {2, 0, 1, 2}, {3, 0, 1, 2}};
  const Plot plot = history_plot(model_of(false, history), {});
  std::vector<double> x;
  for (const PlotPoint& p : plot.panels[0].series[1].points) x.push_back(p.x);
  EXPECT_EQ(x, (std::vector<double>{1, 7, 9, 10}));
  EXPECT_FALSE(plot.panels[0].x.logarithmic);
}

TEST(Charts, AbsurdHistoriesAndProbabilitiesAreDrawnToo) {
  std::vector<TracePoint> history;
  for (int i = 0; i < 3000; ++i) history.push_back({std::int64_t{1} << 53, -1, i % 2 == 0 ? -infinity : NAN, infinity});
  const std::string text = svg(history_plot(model_of(true, history), {}));
  EXPECT_EQ(text.find("nan"), std::string::npos);
  Reliability r;
  r.add(NAN, false);
  r.add(infinity, true);
  EXPECT_EQ(r.result()[0].rows, 1);
  EXPECT_EQ(r.result()[9].rows, 1);
}

TEST(Charts, NoHistoryIsAnError) {
  try {
    history_plot(model_of(true, {}), {});
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::unsupported);
    EXPECT_NE(e.hint().find("history => true"), std::string::npos);
  }
}

ClassificationMetrics two_classes(bool probabilistic, std::initializer_list<std::pair<int, double>> rows) {
  ClassificationMetrics m(2, 2.0, probabilistic);
  for (const auto& [label, score] : rows) m.add(label, score > 0, &score);
  return m;
}

const std::vector<std::string> names = {"no", "yes"};

TEST(Charts, ARocCurveHasOneStepPerDistinctScore) {
  const auto m = two_classes(false, {{1, 3.0}, {0, 1.0}, {1, 1.0}, {0, -1.0}, {0, -2.0}, {1, -2.5}});
  const std::vector<RocPoint> curve = m.roc();
  const std::vector<std::pair<double, double>> expected = {{0, 0},           {0, 1. / 3}, {1. / 3, 2. / 3},
                                                           {2. / 3, 2. / 3}, {1, 2. / 3}, {1, 1}};
  ASSERT_EQ(curve.size(), expected.size());
  double area = 0;
  for (std::size_t k = 0; k < curve.size(); ++k) {
    EXPECT_DOUBLE_EQ(curve[k].false_positives, expected[k].first);
    EXPECT_DOUBLE_EQ(curve[k].true_positives, expected[k].second);
    if (k > 0)
      area += (curve[k].false_positives - curve[k - 1].false_positives) *
              (curve[k].true_positives + curve[k - 1].true_positives) / 2;
  }
  EXPECT_NEAR(area, *m.auc(), 1e-15);
  EXPECT_EQ(roc_plot(m, names).title, "ROC of \"yes\" against \"no\"");
}

TEST(Charts, TheAreaUnderACurveOfBucketsIsThatOfTheEvaluation) {
  ClassificationMetrics m(2, 1.0, false);
  for (int i = 0; i < 30000; ++i) {
    const double score = std::sin(i * 0.7) + (i % 3 == 0 ? 0.5 : 0.0);
    m.add(i % 3 == 0, score > 0, &score);
  }
  double area = 0;
  const std::vector<RocPoint> curve = m.roc();
  for (std::size_t k = 1; k < curve.size(); ++k)
    area += (curve[k].false_positives - curve[k - 1].false_positives) *
            (curve[k].true_positives + curve[k - 1].true_positives) / 2;
  EXPECT_NEAR(area, *m.auc(), 1e-12);
}

TEST(Charts, ARocCurveNeedsTwoClassesAndBothOfThem) {
  EXPECT_THROW(roc_plot(two_classes(false, {{1, 3.0}, {1, 1.0}}), names), Error);
  ClassificationMetrics three(3, 1.0, false);
  const double scores[] = {1, 2, 3};
  three.add(0, 2, scores);
  EXPECT_THROW(roc_plot(three, {"a", "b", "c"}), Error);
}

TEST(Charts, ReliabilityCountsInTenBinsWithWilsonsInterval) {
  Reliability r, other;
  for (int i = 0; i < 10; ++i) (i % 2 == 0 ? r : other).add(0.72, i < 8);
  other.add(1, true);
  r.add(0, false);
  r.merge(other);
  const auto bins = r.result();
  ASSERT_EQ(bins.size(), 10U);
  EXPECT_EQ(bins[7].rows, 10);
  EXPECT_EQ(bins[7].hits, 8);
  EXPECT_NEAR(bins[7].probability, 0.72, 1e-15);
  EXPECT_NEAR(bins[7].low, 0.490162, 1e-6);  // Wilson, 8 of 10, 95 %
  EXPECT_NEAR(bins[7].high, 0.943318, 1e-6);
  EXPECT_EQ(bins[0].rows, 1);
  EXPECT_EQ(bins[9].rows, 1);
  EXPECT_EQ(bins[9].high, 1);
  EXPECT_EQ(bins[4].rows, 0);
}

TEST(Charts, ReliabilityIsOfTheSecondClassOrOfThePredictedOne) {
  const auto binary = two_classes(true, {{1, std::log(3.0)}, {0, -std::log(3.0)}});  // P("yes") = 0.75 and 0.25
  EXPECT_EQ(binary.reliability()->result()[7].hits, 1);
  EXPECT_EQ(binary.reliability()->result()[2].rows, 1);
  EXPECT_EQ(binary.reliability()->result()[2].hits, 0);
  EXPECT_EQ(reliability_plot(binary, names).panels.size(), 2U);

  ClassificationMetrics three(3, 1.0, true);
  const double scores[] = {0, 0, std::log(3.0)};  // 0.5 : 0.5 : 0.75, so 0.75/1.75 of the last
  three.add(2, 2, scores);
  three.add(1, 2, scores);
  EXPECT_EQ(three.reliability()->result()[4].rows, 2);
  EXPECT_EQ(three.reliability()->result()[4].hits, 1);

  EXPECT_THROW(reliability_plot(two_classes(false, {{1, 1.0}}), names), Error);
}

TEST(Charts, AHistogramHasAnEdgeAtZeroAndCountsEveryRow) {
  // The norm of the weights is 2: margins 1, −0.25, 0.25, 0.75.
  const auto m = two_classes(false, {{1, 2.0}, {1, -0.5}, {0, -0.5}, {0, -1.5}});
  const Plot plot = histogram_plot(m, names);
  EXPECT_NE(plot.description.find("1 row of 4 have a margin of 0 or less; the smallest is -0.25."), std::string::npos)
      << plot.description;
  ASSERT_EQ(plot.panels[0].series.size(), 3U);
  for (int c = 0; c < 2; ++c) {
    double rows = 0;
    for (const PlotPoint& bar : plot.panels[0].series[static_cast<std::size_t>(c)].points) {
      rows += bar.y;
      EXPECT_TRUE(bar.low >= 0 || bar.high <= 0) << "0 is inside of a bar";
    }
    EXPECT_EQ(rows, 2);
  }
  const auto same = two_classes(false, {{1, 0.0}, {0, 0.0}});  // one value, and it is 0
  EXPECT_EQ(histogram_plot(same, names).panels[0].series[0].points.size(), 1U);
}

}  // namespace
}  // namespace margin
