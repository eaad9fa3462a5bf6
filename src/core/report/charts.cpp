#include "core/report/charts.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/base/quoted.hpp"

namespace margin {

namespace {

using Kind = PlotSeries::Kind;

PlotAxis axis(std::string label, bool logarithmic = false) {
  PlotAxis a;
  a.label = std::move(label);
  a.logarithmic = logarithmic;
  return a;
}

/// From 0 to 1.
PlotAxis share_axis(std::string label) {
  PlotAxis a = axis(std::move(label));
  a.from = 0;
  a.to = 1;
  return a;
}

/// From 0 upward.
PlotAxis count_axis(std::string label) {
  PlotAxis a = axis(std::move(label));
  a.from = 0;
  return a;
}

PlotPanel& add_panel(Plot& plot, PlotAxis x, PlotAxis y, double height) {
  plot.panels.emplace_back();
  PlotPanel& panel = plot.panels.back();
  panel.x = std::move(x);
  panel.y = std::move(y);
  panel.height = height;
  return panel;
}

/// Iterations as they add up: every output of a one-against-rest training, and every solver of a pair, starts at 0.
std::vector<double> running_iterations(const std::vector<TracePoint>& history) {
  std::vector<double> out;
  double done = 0;
  std::int64_t before = 0;
  for (const TracePoint& p : history) {
    done += static_cast<double>(p.iteration >= before ? p.iteration - before : p.iteration);
    before = p.iteration;
    out.push_back(done);
  }
  return out;
}

/// Values over a range so wide that a linear axis would hide most of them.
bool wants_logarithm(double smallest, double largest, double ratio) {
  return smallest > 0 && largest > ratio * smallest;
}

PlotPanel interval_panel(const Model& m, const Options& options, const std::vector<double>& x) {
  const std::vector<TracePoint>& history = m.history;
  PlotSeries band{"", Kind::band, 0, false, {}},
      lower{m.about_margin() ? "margin_lower" : "dual", Kind::line, 0, false, {}},
      upper{m.about_margin() ? "margin_upper" : "primal", Kind::line, 1, true, {}};
  PlotRange range(PlotAxis{});
  for (std::size_t i = 0; i < history.size(); ++i) {
    const TracePoint& p = history[i];
    band.points.push_back({x[i], 0, p.lower, p.upper});
    lower.points.push_back({x[i], p.lower, 0, 0});
    upper.points.push_back({x[i], p.upper, 0, 0});
    range.include(p.lower);
    range.include(p.upper);
  }
  PlotPanel panel;
  panel.y = axis(!m.about_margin()     ? "objective"
                 : m.basis != nullptr  ? "margin"
                 : options.standardize ? "margin (standardised units)"
                                       : "margin (units of the features)",
                 wants_logarithm(range.low(), range.high(), 100));
  panel.series = {std::move(band), std::move(lower), std::move(upper)};
  return panel;
}

PlotPanel gap_panel(const Model& m, const Options& options, const std::vector<double>& x) {
  const std::vector<TracePoint>& history = m.history;
  PlotSeries gap{"relative width", Kind::line, 2, false, {}}, target{"tolerance", Kind::line, -1, true, {}};
  for (std::size_t i = 0; i < history.size(); ++i) {
    const TracePoint& p = history[i];
    const double size = m.about_margin() ? p.upper : std::max(std::fabs(p.lower), std::fabs(p.upper));
    gap.points.push_back({x[i], (p.upper - p.lower) / size, 0, 0});
  }
  for (const double end : {x.front(), x.back()}) target.points.push_back({end, options.tolerance, 0, 0});
  PlotPanel panel;
  panel.y = axis("relative width", true);
  panel.series = {std::move(gap), std::move(target)};
  return panel;
}

/// How many rows, or their weight.
std::string row_number(double rows) {
  return rows == std::floor(rows) && rows < 0x1p53 ? std::to_string(static_cast<std::int64_t>(rows))
                                                   : short_number(rows, 6);
}
std::string counted_rows(double rows) { return row_number(rows) + (rows == 1 ? " row" : " rows"); }

void require_two_classes(std::int32_t classes) {
  if (classes != 2)
    throw Error(ErrorKind::unsupported,
                "a ROC curve needs a model of two classes, this one has " + std::to_string(classes),
                "Train one class against the rest: train_margin(label = 'class', ...).");
}

}  // namespace

Plot history_plot(const Model& m, const Options& options) {
  if (m.history.empty())
    throw Error(ErrorKind::unsupported, "the model has no history to plot",
                "Train with margin_options(history => true).");
  const std::vector<double> x = running_iterations(m.history);
  Plot plot;
  plot.title = m.solver + ": " + std::string(m.status.has_value() ? status_name(*m.status) : "") + " after " +
               counted(static_cast<std::int64_t>(std::min(x.back(), 0x1p62)), "iteration");
  plot.description =
      "The interval that holds " + objective_name(m, options) + ", after every iteration, and its relative width.";
  if (const auto interval = interval_of(m, options))
    plot.description += " At the end: from " + short_number(interval->lower, 6) + " to " +
                        short_number(interval->upper, 6) + ", relative width " +
                        short_number(interval->relative_gap, 2) + ".";
  plot.panels = {interval_panel(m, options, x), gap_panel(m, options, x)};
  const bool logarithmic = wants_logarithm(x.front(), x.back(), 50);
  for (PlotPanel& panel : plot.panels) panel.x = axis("iterations", logarithmic);
  return plot;
}

template <class Count>
Plot roc_plot(const CountingMetrics<Count>& metrics, const std::vector<std::string>& classes) {
  require_two_classes(metrics.classes());
  const std::vector<RocPoint> curve = metrics.roc();
  if (curve.empty())
    throw Error(ErrorKind::invalid_value,
                "a ROC curve needs rows of both classes, all " + std::to_string(metrics.rows()) + " rows are of one");
  PlotSeries roc{"area " + short_number(*metrics.auc(), 4), Kind::line, 0, false, {}};
  for (const RocPoint& p : curve) roc.points.push_back({p.false_positives, p.true_positives, 0, 0});
  const PlotSeries chance{"by chance: 0.5", Kind::line, -1, true, {{0, 0, 0, 0}, {1, 1, 0, 0}}};
  Plot plot;
  plot.title = "ROC of \"" + classes[1] + "\" against \"" + classes[0] + "\"";
  plot.description = "Share of the rows of either class whose score is above a threshold, for every threshold, over " +
                     counted_rows(static_cast<double>(metrics.weight())) +
                     ". Area under the curve: " + short_number(*metrics.auc(), 4) + ".";
  PlotPanel& panel = add_panel(plot, share_axis("false positives (share of \"" + classes[0] + "\")"),
                               share_axis("true positives (share of \"" + classes[1] + "\")"), 400);
  panel.series = {chance, std::move(roc)};
  return plot;
}

template <class Count>
Plot reliability_plot(const CountingMetrics<Count>& metrics, const std::vector<std::string>& classes) {
  if (!metrics.reliability().has_value())
    throw Error(ErrorKind::unsupported, "the model gives no probabilities",
                "Train with lambda and loss => 'logistic', or with calibration => 'platt'.");
  const auto bins = metrics.reliability()->result();
  PlotSeries shares{"observed, with 95 % interval", Kind::markers, 0, false, {}},
      counts{"rows", Kind::bars, 5, false, {}};
  for (std::size_t b = 0; b < bins.size(); ++b) {
    const auto& bin = bins[b];
    if (!(bin.rows > 0)) continue;
    const double n = static_cast<double>(bin.rows), width = 1.0 / static_cast<double>(bins.size());
    shares.points.push_back({bin.probability, static_cast<double>(bin.hits) / n, bin.low, bin.high});
    counts.points.push_back({0, n, static_cast<double>(b) * width, static_cast<double>(b + 1) * width});
  }
  const PlotSeries perfect{"as predicted", Kind::line, -1, true, {{0, 0, 0, 0}, {1, 1, 0, 0}}};
  const bool binary = metrics.classes() == 2;
  const std::string outcome = binary ? "\"" + classes[1] + "\"" : std::string("the predicted class");
  Plot plot;
  plot.title = "Reliability of the probabilities of " + outcome;
  plot.description =
      "Share of rows that are of " + outcome + " among those predicted so with about the same probability, over " +
      counted_rows(static_cast<double>(metrics.weight())) + ". Log loss: " + short_number(*metrics.log_loss(), 4) + ".";
  const PlotAxis probability = share_axis("predicted probability of " + outcome);
  add_panel(plot, probability, share_axis("observed share"), 320).series = {perfect, std::move(shares)};
  add_panel(plot, probability, count_axis("rows"), 100).series = {std::move(counts)};
  return plot;
}

namespace {

constexpr int wanted_bars = 30;

/// Counts of values in bars of one width, of which one edge is 0.
template <class Item>
PlotSeries bars_of(const std::vector<Item>& items, double step, std::string name, int colour) {
  PlotSeries bars{std::move(name), Kind::bars, colour, colour != 0, {}};
  double edge = 0;
  for (const Item& item : items) {
    const double k = std::floor(item.first / step);
    if (bars.points.empty() || k != edge) bars.points.push_back({0, 0, k * step, (k + 1) * step});
    edge = k;
    bars.points.back().y += static_cast<double>(item.second);
  }
  return bars;
}

}  // namespace

template <class Count>
Plot histogram_plot(const CountingMetrics<Count>& metrics, const std::vector<std::string>& classes) {
  const bool binary = metrics.classes() == 2;
  std::vector<decltype(metrics.margins(0))> margins;
  for (std::int32_t c = 0; c < (binary ? 2 : 1); ++c) margins.push_back(metrics.margins(c));
  double low = 0, high = 0, wrong = 0, most = 0;
  for (const auto& items : margins)
    for (const auto& item : items) {
      low = std::min(low, item.first);
      high = std::max(high, item.first);
      if (item.first <= 0) wrong += static_cast<double>(item.second);
    }
  const double span = high - low, step = span > 1e-290 ? round_step(span, wanted_bars) : 1;
  Plot plot;
  PlotPanel& panel = add_panel(plot, axis("margin of the row"), count_axis("rows"), 320);
  for (std::size_t c = 0; c < margins.size(); ++c) {
    panel.series.push_back(
        bars_of(margins[c], step, binary ? "\"" + classes[c] + "\"" : "all classes", static_cast<int>(c)));
    for (const PlotPoint& bar : panel.series.back().points) most = std::max(most, bar.y);
  }
  panel.series.push_back({"decided wrongly left of here", Kind::line, -1, true, {{0, 0, 0, 0}, {0, most, 0, 0}}});
  plot.title = "Margins of " + counted_rows(static_cast<double>(metrics.weight()));
  plot.description = "How many rows have which margin. " + counted_rows(wrong) + " of " +
                     row_number(static_cast<double>(metrics.weight())) +
                     " have a margin of 0 or less; the smallest is " +
                     short_number(metrics.margin_quantiles({0})[0], 4) + ".";
  return plot;
}

template Plot roc_plot(const ClassificationMetrics&, const std::vector<std::string>&);
template Plot roc_plot(const WeightedMetrics&, const std::vector<std::string>&);
template Plot reliability_plot(const ClassificationMetrics&, const std::vector<std::string>&);
template Plot reliability_plot(const WeightedMetrics&, const std::vector<std::string>&);
template Plot histogram_plot(const ClassificationMetrics&, const std::vector<std::string>&);
template Plot histogram_plot(const WeightedMetrics&, const std::vector<std::string>&);

}  // namespace margin
