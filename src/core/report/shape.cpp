#include "core/report/shape.hpp"

#include <algorithm>
#include <utility>

#include "core/base/error.hpp"
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

  void add_elements() {
    const auto element = [&](std::int32_t at) {
      if (weight(at) != 0) put("[" + std::to_string(at + 1) + "]").slope = slope(at);
    };
    if (column_.kind == ColumnKind::dense)
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

Plot shape_plot(const Model& m, const std::string& column) {
  const std::vector<ShapePiece> pieces = shape(m, column);
  const std::vector<Column>& columns = m.encoder->columns();
  const Column& c =
      *std::find_if(columns.begin(), columns.end(), [&](const Column& one) { return one.name == column; });
  if (!scalar(c.kind) || c.kind == ColumnKind::boolean)
    throw Error(ErrorKind::unsupported, "column \"" + column + "\" is no number, and has no curve",
                "margin_shape(model, column) has what each of its values adds.");
  if (m.outputs() > most_lines)
    throw Error(ErrorKind::unsupported,
                "a model of " + std::to_string(m.outputs()) + " classes has too many curves for one picture",
                "margin_shape(model, column) has them as a table.");
  Plot plot;
  plot.title = "What " + column + " adds to the score";
  plot.description = "By how much its value makes the score differ from that of the mean of the training rows.";
  PlotAxis x;
  x.label = column + unit_of_label(c);
  PlotPanel& curve = plot.panels.emplace_back();
  curve.x = x;
  curve.y.label =
      m.outputs() == 1 && !m.regression() ? "adds to the score of \"" + m.classes[1] + "\"" : "adds to the score";
  for (std::int32_t o = 0; o < m.outputs(); ++o) curve.series.push_back(line(m, o, c, pieces));
  if (!c.binned()) return plot;
  const std::vector<double> at = edges(c);
  PlotSeries bars{"rows", PlotSeries::Kind::bars, colours - 1, false, {}};
  for (const ShapePiece& p : pieces)
    if (p.output == 0 && !p.level.has_value()) {
      const std::size_t bin = bars.points.size();
      bars.points.push_back({0, *p.share, at[bin], at[bin + 1]});
    }
  PlotPanel& rows = plot.panels.emplace_back();
  rows.x = x;
  rows.y.label = "share of the rows";
  rows.y.from = 0;
  rows.height = 100;
  rows.series.push_back(std::move(bars));
  return plot;
}

std::vector<ShapePiece> shape(const Model& m, const std::optional<std::string>& column) {
  if (m.encoder == nullptr || !m.encoder->knows_means())
    throw Error(ErrorKind::unsupported, "margin_shape needs a model of rows with named columns",
                "Train on rows: train_margin(label, t, ...) FROM t, with bins => 64 for curves. Of arrays, "
                "margin_weights is all there is.");
  const std::vector<Column>& columns = m.encoder->columns();
  if (column.has_value() &&
      std::none_of(columns.begin(), columns.end(), [&](const Column& c) { return c.name == *column; }))
    throw Error(ErrorKind::invalid_value, "the model has no column \"" + *column + "\"",
                "SELECT DISTINCT term FROM margin_shape(model) shows those that it has.");
  std::vector<ShapePiece> out;
  for (std::int32_t o = 0; o < m.outputs(); ++o)
    for (const Column& c : columns)
      if (!column.has_value() || c.name == *column) ColumnShape(m, c, o, out).add();
  return out;
}

}  // namespace margin
