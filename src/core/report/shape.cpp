#include "core/report/shape.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/quoted.hpp"
#include "core/model/column_weights.hpp"

namespace margin {

namespace {

/// The pieces of one column in the score of one output.
class ColumnShape {
 public:
  ColumnShape(const Model& m, const Column& c, std::int32_t output, std::vector<ShapePiece>& out)
      : model_(m), column_(c), output_(output), out_(out) {}

  void add() {
    const ColumnSpread& spread = *column_.spread;
    missing_ = column_.missing ? spread.missing : 0;
    if (block(column_.kind)) return add_elements();
    for (std::int32_t k = 0; k < column_.features().index("a column", "features"); ++k)
      if (weight(k) != 0) base_ -= weight(k) * model_.encoder->mean(feature(k));
    if (column_.binned())
      add_bins();
    else if (column_.kind == ColumnKind::category)
      add_categories();
    else if (column_.kind == ColumnKind::boolean)
      add_boolean();
    else
      add_number();
  }

 private:
  double weight(std::int32_t value) const { return weight_in_column(model_, output_, column_.first + value); }
  std::int32_t feature(std::int32_t value) const { return model_.encoder->feature_of(column_.first + value); }
  double slope(std::int32_t value) const {
    return weight(value) == 0 ? 0 : weight(value) / model_.encoder->scale(feature(value));
  }
  double centre() const { return feature(0) < 0 ? 0 : model_.encoder->center(feature(0)); }
  ShapePiece& put(std::optional<std::string> level) {
    out_.push_back({output_, column_.name, std::move(level)});
    return out_.back();
  }
  void put(std::optional<std::string> level, double added, double share) {
    ShapePiece& piece = put(std::move(level));
    piece.contribution = base_ + added;
    piece.share = share;
  }
  void add_missing(double added) {
    if (column_.missing) put("NULL", added + weight(column_.values()), missing_);
  }

  void add_bins() {
    const std::vector<double>&t = column_.thresholds, &above = column_.spread->mean;
    const auto fill = static_cast<std::size_t>(column_.bin(column_.fill[0]));
    double added = 0, filled = 0;
    for (std::size_t k = 0; k <= t.size(); ++k) {
      if (k > 0) added += weight(static_cast<std::int32_t>(k) - 1);
      if (k == fill) filled = added;
      const double share = (k > 0 ? above[k - 1] : 1) - (k < t.size() ? above[k] : 0) - (k == fill ? missing_ : 0);
      put(std::nullopt, added, std::max(0.0, share));
      if (k > 0) out_.back().above = t[k - 1];
      if (k < t.size()) out_.back().upto = t[k];
    }
    add_missing(filled);
  }

  void add_categories() {
    for (std::size_t k = 0; k < column_.categories.size(); ++k) {
      const std::int32_t value = column_.indicator_of(static_cast<std::int32_t>(k));
      put(column_.categories[k], value < 0 ? 0 : weight(value), column_.spread->mean[k]);
    }
    add_missing(0);
  }

  void add_boolean() {
    const double one = slope(0), mean = column_.fill[0];
    put("false", one * (0 - centre()), (1 - mean) * (1 - missing_));
    put("true", one * (1 - centre()), mean * (1 - missing_));
    add_missing(one * (mean - centre()));
  }

  void add_number() {
    put(std::nullopt).slope = slope(0);
    const double filled = (column_.fill[0] - centre()) * slope(0);
    add_missing(filled);
  }

  void add_set() {
    for (std::int32_t at = 0; at < column_.values(); ++at) {
      if (weight(at) == 0) continue;
      ShapePiece& piece = put(column_.category(at));
      piece.slope = slope(at);
      piece.share = column_.spread->mean[static_cast<std::size_t>(at)];
    }
  }

  void add_elements() {
    const auto element = [&](std::int32_t at) {
      if (weight(at) != 0) put("[" + std::to_string(at + 1) + "]").slope = slope(at);
    };
    if (column_.kind == ColumnKind::set)
      add_set();
    else if (column_.kind == ColumnKind::dense)
      for (std::int32_t at = 0; at < column_.width; ++at) element(at);
    else
      for (const std::int32_t at : column_.spread->at) element(at);
  }

  const Model& model_;
  const Column& column_;
  std::int32_t output_;
  std::vector<ShapePiece>& out_;
  double base_ = 0, missing_ = 0;
};

/// What the rows of one level of a pair have in common.
struct LevelText {
  std::optional<std::string> level = {};
  std::optional<double> above = {}, upto = {};
};

LevelText level_of(const PairSide& side, std::int32_t level) {
  LevelText out;
  const auto at = static_cast<std::size_t>(level);
  if (level == side.known()) {
    out.level = "NULL";
  } else if (side.kind == ColumnKind::boolean) {
    out.level = level == 1 ? "true" : "false";
  } else if (side.kind == ColumnKind::category) {
    out.level = at < side.categories.size() ? side.categories[at] : "(others)";
  } else {
    if (at > 0) out.above = side.thresholds[at - 1];
    if (at < side.thresholds.size()) out.upto = side.thresholds[at];
  }
  return out;
}

void add_pair(const Model& m, const PairTerm& p, std::int32_t output, std::vector<ShapePiece>& out) {
  const auto weight = [&](std::int32_t cell) { return weight_in_column(m, output, p.first + cell); };
  double mean = 0;
  for (std::int32_t k = 0; k < p.cells(); ++k) mean += p.share[static_cast<std::size_t>(k)] * weight(k);
  const std::int32_t n = p.sides[1].levels();
  for (std::int32_t k = 0; k < p.cells(); ++k) {
    const LevelText first = level_of(p.sides[0], k / n), second = level_of(p.sides[1], k % n);
    ShapePiece& piece = out.emplace_back();
    piece.output = output;
    piece.column = p.name();
    piece.level = first.level;
    piece.above = first.above;
    piece.upto = first.upto;
    piece.contribution = weight(k) - mean;
    piece.share = p.share[static_cast<std::size_t>(k)];
    piece.with_level = second.level;
    piece.with_above = second.above;
    piece.with_upto = second.upto;
  }
}

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

PlotSeries line(const Model& m, std::int32_t output, const Column& c, const std::vector<ShapePiece>& pieces) {
  PlotSeries out;
  if (m.outputs() > 1) out.name = m.classes[static_cast<std::size_t>(output)];
  out.colour = output % colours;
  out.dashed = output >= colours;
  std::size_t bin = 0;
  const std::vector<double> at = c.binned() ? edges(c) : std::vector<double>{};
  for (const ShapePiece& p : pieces) {
    if (p.output != output || p.level.has_value()) continue;
    if (p.slope.has_value()) {
      const double reach = 2 * c.spread->deviation[0];
      for (const double side : {-1.0, 1.0})
        out.points.push_back({c.fill[0] + side * reach, side * reach * *p.slope, 0, 0});
    } else {
      for (const double x : {at[bin], at[bin + 1]}) out.points.push_back({x, *p.contribution, 0, 0});
      ++bin;
    }
  }
  return out;
}

std::string unit_of_label(const Column& c) {
  return std::string(unit_of(c.kind).empty() ? "" : " (" + std::string(unit_of(c.kind)) + ")");
}

}  // namespace

static std::string short_name(const std::string& name, std::size_t longest) {
  return beginning(name, longest).size() == name.size() ? name : std::string(beginning(name, longest - 2)) + "..";
}

/// The levels of a column along an axis, each as wide as the others: their ends at numbers, their names in the middle.
static PlotAxis axis_of(const PairSide& side, const Column& c, std::size_t most_labels) {
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

static void require_few_classes(const Model& m, std::int32_t most, const char* what) {
  if (m.outputs() > most)
    throw Error(ErrorKind::unsupported,
                "a model of " + std::to_string(m.outputs()) + " classes has too many " + what + " for one picture",
                "margin_shape(model, column) has them as a table.");
}

/// Of output o the label of an axis of contributions.
static std::string added_to(const Model& m, std::int32_t o) {
  const std::size_t of = m.outputs() == 1 ? 1 : static_cast<std::size_t>(o);
  return m.regression() ? "adds to the score" : "adds to the score of \"" + m.classes[of] + "\"";
}

/// A bar for each value of a column that is not a number, or each element of a set, above the shares of the rows; what adds most is
/// at the top.
static Plot bar_plot(const Model& m, const std::vector<ShapePiece>& pieces) {
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

static Plot pair_plot(const Model& m, const PairTerm& pair, const std::vector<ShapePiece>& pieces) {
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

Plot shape_plot(const Model& m, const std::string& column) {
  const std::vector<ShapePiece> pieces = shape(m, column);
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

std::vector<ShapePiece> shape(const Model& m, const std::optional<std::string>& column) {
  if (m.encoder == nullptr || !m.encoder->knows_means())
    throw Error(ErrorKind::unsupported, "margin_shape needs a model of rows with named columns",
                "Train on rows: train_margin(label, t, ...) FROM t, with bins => 64 for curves. Of arrays, "
                "margin_weights is all there is.");
  const Encoder& e = *m.encoder;
  const std::size_t wanted = column.has_value() ? e.term(*column) : e.terms();
  if (column.has_value() && wanted == e.terms())
    throw Error(ErrorKind::invalid_value, "the model has no column \"" + *column + "\"",
                "SELECT DISTINCT term FROM margin_shape(model) shows those that it has.");
  std::vector<ShapePiece> out;
  for (std::int32_t o = 0; o < m.outputs(); ++o)
    for (std::size_t t = 0; t < e.terms(); ++t) {
      if (column.has_value() && t != wanted) continue;
      if (const PairTerm* pair = e.pair({t, 0}))
        add_pair(m, *pair, o, out);
      else
        ColumnShape(m, e.columns()[t], o, out).add();
    }
  return out;
}

}  // namespace margin
