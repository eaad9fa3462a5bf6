// The pictures of what columns add to the score.
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/quoted.hpp"
#include "core/report/shape.hpp"

namespace margin {

namespace {

constexpr std::int32_t colours = 6, most_lines = 2 * colours;

/// Where the bins of a column begin and end in a picture.
std::vector<double> edges(const Column& c) {
  std::vector<double> out = c.thresholds;
  const double first = out.size() > 1 ? out[1] - out[0] : 1,
               last = out.size() > 1 ? out.back() - out[out.size() - 2] : 1;
  out.insert(out.begin(), out.front() - first);
  out.push_back(out.back() + last);
  return out;
}

/// f(piece, its place along the axis) of each piece of an output that has one: both ends of a bin, three places of a line.
template <class F>
void each_place(const Column& c, std::int32_t output, const std::vector<ShapePiece>& pieces, F&& f) {
  std::size_t bin = 0;
  const std::vector<double> at = c.binned() ? edges(c) : std::vector<double>{};
  for (const ShapePiece& p : pieces) {
    if (p.output != output || p.level.has_value()) continue;
    if (p.slope.has_value()) {
      for (const double side : {-2.0, 0.0, 2.0}) f(p, c.fill[0] + side * c.spread->deviation[0]);
    } else {
      for (const double x : {at[bin], at[bin + 1]}) f(p, x);
      ++bin;
    }
  }
}

PlotSeries line(const Model& m, std::int32_t output, const Column& c, const std::vector<ShapePiece>& pieces) {
  PlotSeries out;
  if (m.outputs() > 1) out.name = m.classes[static_cast<std::size_t>(output)];
  out.colour = output % colours;
  out.dashed = output >= colours;
  each_place(c, output, pieces, [&](const ShapePiece& p, double x) {
    out.points.push_back({x, p.slope.has_value() ? (x - c.fill[0]) * *p.slope : *p.contribution, 0, 0});
  });
  return out;
}

/// The bands of the curves in a panel, below them; cut off at half of the curves' range above and below all of them.
void add_bands(PlotPanel& panel, const Model& m, const Column& c, const std::vector<ShapePiece>& pieces) {
  double low = 0, high = 0;
  for (const PlotSeries& s : panel.series)
    for (const PlotPoint& p : s.points) {
      low = std::min(low, p.y);
      high = std::max(high, p.y);
    }
  const double reach = (high - low) / 2;
  std::vector<PlotSeries> bands;
  for (std::int32_t o = 0; o < m.outputs(); ++o) {
    PlotSeries band{"", PlotSeries::Kind::band, panel.series[static_cast<std::size_t>(o)].colour, false, {}};
    each_place(c, o, pieces, [&](const ShapePiece& p, double x) {
      if (!p.lower.has_value()) return;
      const double by = p.slope.has_value() ? x - c.fill[0] : 1.0;
      const auto [least, most] = std::minmax({by * *p.lower, by * *p.upper});
      band.points.push_back(
          {x, 0, std::clamp(least, low - reach, high + reach), std::clamp(most, low - reach, high + reach)});
    });
    if (!band.points.empty()) bands.push_back(std::move(band));
  }
  panel.series.insert(panel.series.begin(), bands.begin(), bands.end());
}

std::string unit_of_label(const Column& c) {
  return std::string(unit_of(c.kind).empty() ? "" : " (" + std::string(unit_of(c.kind)) + ")");
}

std::string short_name(const std::string& name, std::size_t longest) {
  return beginning(name, longest).size() == name.size() ? name : std::string(beginning(name, longest - 2)) + "..";
}

/// The levels of a column along an axis, each as wide as the others: their ends at numbers, their names in the middle.
PlotAxis axis_of(const PairSide& side, const Column& c, std::size_t most_labels) {
  PlotAxis axis;
  const std::int32_t levels = side.levels();
  axis.label = side.column + unit_of_label(c);
  axis.from = 0;
  axis.to = levels;
  const auto every = static_cast<std::int32_t>((static_cast<std::size_t>(levels) + most_labels - 1) / most_labels);
  for (std::int32_t k = 0; k < levels; ++k) {
    const LevelText text = level_of(side, k);
    if (!text.level.has_value() && !text.upto.has_value()) continue;  // above the last threshold
    const bool last = k + (text.level.has_value() ? 1 : 2) == levels;
    if (k % every != 0 && !last) continue;
    if (last && 2 * (k % every) > 0 && 2 * (k % every) < every) axis.ticks.pop_back();  // both have no room
    if (text.level.has_value())
      axis.ticks.push_back({k + 0.5, short_name(*text.level, 10)});
    else
      axis.ticks.push_back({k + 1.0, short_number(*text.upto, 4)});
  }
  return axis;
}

void require_few_classes(const Model& m, std::int32_t most, const char* what) {
  if (m.outputs() > most)
    throw Error(ErrorKind::unsupported,
                "a model of " + std::to_string(m.outputs()) + " classes has too many " + what + " for one picture",
                "margin_shape(model, column) has them as a table.");
}

/// Of output o the label of an axis of contributions.
std::string added_to(const Model& m, std::int32_t o) {
  const std::size_t of = m.outputs() == 1 ? 1 : static_cast<std::size_t>(o);
  return m.regression() ? "adds to the score" : "adds to the score of \"" + m.classes[of] + "\"";
}

/// A bar for each value of a column that is not a number, or each element of a set, above the shares of the rows; what adds most is
/// at the top.
Plot bar_plot(const Model& m, const std::vector<ShapePiece>& pieces) {
  require_few_classes(m, colours, "bars");
  struct Bar {
    std::string name;
    double share = 0;
    std::array<double, static_cast<std::size_t>(colours)> added = {};  ///< by output; 0 of an element without a weight
  };
  std::vector<Bar> bars;
  // Elements are known by their names, as some outputs may lack them; values by their places: 'NULL' may be one beside NULL.
  std::map<std::string, std::size_t> elements;
  const std::size_t values_of_each = pieces.size() / static_cast<std::size_t>(m.outputs());
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    const ShapePiece& p = pieces[k];
    const std::size_t at =
        p.slope.has_value() ? elements.emplace(*p.level, bars.size()).first->second : k % values_of_each;
    if (at == bars.size()) bars.push_back({*p.level, p.share.value_or(0)});
    bars[at].added[static_cast<std::size_t>(p.output)] = p.slope.has_value() ? *p.slope : *p.contribution;
  }
  std::stable_sort(bars.begin(), bars.end(), [](const Bar& a, const Bar& b) { return a.added[0] < b.added[0]; });
  PlotAxis values;
  values.from = 0;
  values.to = static_cast<double>(bars.size());
  for (std::size_t k = 0; k < bars.size(); ++k)
    values.ticks.push_back({static_cast<double>(k) + 0.5, short_name(bars[k].name, 11)});
  Plot plot;
  const auto panel = [&](const std::string& label, std::int32_t colour, auto&& of) {
    PlotPanel& out = plot.panels.emplace_back();
    out.x.label = label;
    out.y = values;
    out.height = 18.0 * static_cast<double>(bars.size());
    PlotSeries& series = out.series.emplace_back();
    series.kind = PlotSeries::Kind::across;
    series.colour = colour;
    for (std::size_t k = 0; k < bars.size(); ++k) {
      const double y = static_cast<double>(k);
      series.points.push_back({of(bars[k]), y + 0.5, y + 0.15, y + 0.85});
    }
  };
  for (std::int32_t o = 0; o < m.outputs(); ++o)
    panel(added_to(m, o), o, [&](const Bar& bar) { return bar.added[static_cast<std::size_t>(o)]; });
  panel("share of the rows", colours - 1, [](const Bar& bar) { return bar.share; });
  return plot;
}

Plot pair_plot(const Model& m, const PairTerm& pair, const std::vector<ShapePiece>& pieces) {
  require_few_classes(m, colours, "tables of cells");
  Plot plot;
  plot.title = "What " + pair.name() + " adds to the score";
  plot.description =
      "By how much both columns together make the score differ from that of the mean of the training rows.";
  const auto& columns = m.encoder->columns();
  const std::int32_t n = pair.sides[1].levels();
  for (std::int32_t o = 0; o < m.outputs(); ++o) {
    PlotPanel& panel = plot.panels.emplace_back();
    constexpr std::size_t across = 8, up = 12;
    panel.x = axis_of(pair.sides[0], columns[pair.sides[0].at], across);
    panel.y = axis_of(pair.sides[1], columns[pair.sides[1].at], up);
    panel.height = 340;
    PlotSeries& cells = panel.series.emplace_back();
    cells.kind = PlotSeries::Kind::cells;
    if (!m.regression()) cells.name = m.classes[m.outputs() == 1 ? 1 : static_cast<std::size_t>(o)];
    std::int32_t k = 0;
    for (const ShapePiece& p : pieces)
      if (p.output == o) {
        const double value = *p.share > 0 ? *p.contribution : std::numeric_limits<double>::quiet_NaN();
        cells.points.push_back({k / n + 0.5, k % n + 0.5, value, 0});
        ++k;
      }
  }
  return plot;
}

}  // namespace

Plot shape_plot(const Model& m, const Options& options, const std::string& column) {
  const std::vector<ShapePiece> pieces = shape(m, options, column);
  const std::size_t term = m.encoder->term(column);
  if (const PairTerm* pair = m.encoder->pair({term, 0})) return pair_plot(m, *pair, pieces);
  const Column& c = m.encoder->columns()[term];
  const bool set = c.kind == ColumnKind::set;
  if (block(c.kind) && !set)
    throw Error(ErrorKind::unsupported, "column \"" + column + "\" is an array, and has no curve",
                "margin_shape(model, column) has what its elements add.");
  if (set && pieces.empty())
    throw Error(ErrorKind::unsupported, "no element of column \"" + column + "\" has a weight",
                "margin_importance(model) has the columns that have one.");
  const bool bars = c.kind == ColumnKind::category || c.kind == ColumnKind::boolean || set;
  Plot plot = bars ? bar_plot(m, pieces) : Plot();
  plot.title = "What " + column + " adds to the score";
  plot.description = set ? "By how much each of its elements raises the score of a row that has it."
                         : "By how much its value makes the score differ from that of the mean of the training rows.";
  if (bars) return plot;
  require_few_classes(m, most_lines, "curves");
  PlotAxis x;
  x.label = column + unit_of_label(c);
  PlotPanel& curve = plot.panels.emplace_back();
  curve.x = x;
  curve.y.label = m.outputs() == 1 ? added_to(m, 0) : "adds to the score";
  for (std::int32_t o = 0; o < m.outputs(); ++o) curve.series.push_back(line(m, o, c, pieces));
  add_bands(curve, m, c, pieces);
  if (curve.series.size() > static_cast<std::size_t>(m.outputs()))
    plot.description += " The band around a curve is where its certificate proves the optimum's to be.";
  if (!c.binned()) return plot;
  const std::vector<double> at = edges(c);
  PlotSeries shares{"rows", PlotSeries::Kind::bars, colours - 1, false, {}};
  for (const ShapePiece& p : pieces)
    if (p.output == 0 && !p.level.has_value()) {
      const std::size_t bin = shares.points.size();
      shares.points.push_back({0, *p.share, at[bin], at[bin + 1]});
    }
  PlotPanel& rows = plot.panels.emplace_back();
  rows.x = x;
  rows.y.label = "share of the rows";
  rows.y.from = 0;
  rows.height = 100;
  rows.series.push_back(std::move(shares));
  return plot;
}

}  // namespace margin
