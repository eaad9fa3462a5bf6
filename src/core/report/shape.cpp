#include "core/report/shape.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "core/analysis/contribution_intervals.hpp"
#include "core/base/error.hpp"
#include "core/model/column_weights.hpp"

namespace margin {

namespace {

using Entries = ContributionIntervals::Entries;

/// The pieces of the terms of a model; where its certificate says where the optimum is, each with what it proves.
class Pieces {
 public:
  Pieces(const Model& m, const Options& options) : model_(m), intervals_(ContributionIntervals::of(m, options)) {}

  ShapePiece& add(std::int32_t output, const std::string& column) {
    out_.push_back({output, column, std::nullopt});
    return out_.back();
  }
  ShapePiece& last() { return out_.back(); }
  std::vector<ShapePiece> result() { return std::move(out_); }
  bool proven() const { return intervals_ != nullptr; }

  /// Of entries by numbers of features (Column::first), those that the model has weights for.
  void append(Entries& entries, std::int32_t whole, double value) const {
    const std::int32_t feature = model_.encoder->feature_of(whole), term = feature < 0 ? -1 : term_of(model_, feature);
    if (term >= 0 && value != 0) entries.emplace_back(term, value);
  }
  void set_mean(Entries mean) { intervals_->set_mean(std::move(mean)); }
  /// What is proven of the last piece, which adds ⟨part − mean, w⟩.
  void prove(const Entries& part) {
    double lower = 0, upper = 0;
    intervals_->interval(part, last().output, &lower, &upper);
    if (!std::isfinite(lower)) return;
    last().lower = lower;
    last().upper = upper;
  }

 private:
  const Model& model_;
  std::unique_ptr<ContributionIntervals> intervals_;
  std::vector<ShapePiece> out_;
};

/// The pieces of one column in the score of one output.
class ColumnShape {
 public:
  ColumnShape(const Model& m, const Column& c, std::int32_t output, Pieces& out)
      : model_(m), column_(c), output_(output), out_(out) {}

  void add() {
    const ColumnSpread& spread = *column_.spread;
    missing_ = column_.missing ? spread.missing : 0;
    if (out_.proven()) out_.set_mean({});
    if (block(column_.kind)) return add_elements();
    if (scalar(column_.kind) && column_.kind != ColumnKind::boolean && !column_.binned()) put_slope(std::nullopt, 0);
    Entries mean;
    for (std::int32_t k = 0; k < column_.features().index("a column", "features"); ++k) {
      if (weight(k) != 0) base_ -= weight(k) * model_.encoder->mean(feature(k));
      if (out_.proven() && feature(k) >= 0) out_.append(mean, column_.first + k, model_.encoder->mean(feature(k)));
    }
    if (out_.proven()) out_.set_mean(std::move(mean));
    if (column_.binned())
      add_bins();
    else if (column_.kind == ColumnKind::category)
      add_categories();
    else if (column_.kind == ColumnKind::boolean)
      add_boolean();
    else
      add_missing((column_.fill[0] - centre()) * slope(0), encoded(column_.fill[0]));
  }

 private:
  double weight(std::int32_t value) const { return weight_in_column(model_, output_, column_.first + value); }
  std::int32_t feature(std::int32_t value) const { return model_.encoder->feature_of(column_.first + value); }
  double slope(std::int32_t value) const {
    return weight(value) == 0 ? 0 : weight(value) / model_.encoder->scale(feature(value));
  }
  double centre() const { return feature(0) < 0 ? 0 : model_.encoder->center(feature(0)); }
  /// What the features of a row have of this column, by values of it.
  using Part = std::vector<std::pair<std::int32_t, double>>;
  void put(std::optional<std::string> level, double added, double share, const Part& part) {
    ShapePiece& piece = out_.add(output_, column_.name);
    piece.level = std::move(level);
    piece.contribution = base_ + added;
    piece.share = share;
    prove(part);
  }
  ShapePiece& put_slope(std::optional<std::string> level, std::int32_t value) {
    ShapePiece& piece = out_.add(output_, column_.name);
    piece.level = std::move(level);
    piece.slope = slope(value);
    if (feature(value) >= 0) prove({{value, 1 / model_.encoder->scale(feature(value))}});
    return piece;
  }
  void prove(const Part& part) {
    if (!out_.proven()) return;
    Entries entries;
    for (const auto& [value, x] : part) out_.append(entries, column_.first + value, x);
    out_.prove(entries);
  }
  void add_missing(double added, Part part) {
    if (!column_.missing) return;
    part.emplace_back(column_.values(), 1.0);
    put("NULL", added + weight(column_.values()), missing_, part);
  }

  /// Of a number in bin k: above so many thresholds.
  static Part steps(std::size_t k) {
    Part part;
    for (std::size_t j = 0; j < k; ++j) part.emplace_back(static_cast<std::int32_t>(j), 1.0);
    return part;
  }

  void add_bins() {
    const std::vector<double>&t = column_.thresholds, &above = column_.spread->mean;
    const auto fill = static_cast<std::size_t>(column_.bin(column_.fill[0]));
    double added = 0, filled = 0;
    for (std::size_t k = 0; k <= t.size(); ++k) {
      if (k > 0) added += weight(static_cast<std::int32_t>(k) - 1);
      if (k == fill) filled = added;
      const double share = (k > 0 ? above[k - 1] : 1) - (k < t.size() ? above[k] : 0) - (k == fill ? missing_ : 0);
      put(std::nullopt, added, std::max(0.0, share), steps(k));
      if (k > 0) out_.last().above = t[k - 1];
      if (k < t.size()) out_.last().upto = t[k];
    }
    add_missing(filled, steps(fill));
  }

  void add_categories() {
    for (std::size_t k = 0; k < column_.categories.size(); ++k) {
      const std::int32_t value = column_.indicator_of(static_cast<std::int32_t>(k));
      put(column_.categories[k], value < 0 ? 0 : weight(value), column_.spread->mean[k],
          value < 0 ? Part{} : Part{{value, 1.0}});
    }
    add_missing(0, {});
  }

  void add_boolean() {
    const double one = slope(0), mean = column_.fill[0];
    put("false", one * (0 - centre()), (1 - mean) * (1 - missing_), encoded(0));
    put("true", one * (1 - centre()), mean * (1 - missing_), encoded(1));
    add_missing(one * (mean - centre()), encoded(mean));
  }
  /// A number as the first feature has it.
  Part encoded(double x) const {
    if (feature(0) < 0) return {};
    return {{0, (x - centre()) / model_.encoder->scale(feature(0))}};
  }

  void add_set() {
    for (std::int32_t at = 0; at < column_.values(); ++at) {
      if (weight(at) == 0) continue;
      put_slope(column_.category(at), at).share = column_.spread->mean[static_cast<std::size_t>(at)];
    }
  }

  void add_elements() {
    const auto element = [&](std::int32_t at) {
      if (weight(at) != 0) put_slope("[" + std::to_string(at + 1) + "]", at);
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
  Pieces& out_;
  double base_ = 0, missing_ = 0;
};

}  // namespace

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

static void add_pair(const Model& m, const PairTerm& p, std::int32_t output, Pieces& out) {
  const auto weight = [&](std::int32_t cell) { return weight_in_column(m, output, p.first + cell); };
  double mean = 0;
  for (std::int32_t k = 0; k < p.cells(); ++k) mean += p.share[static_cast<std::size_t>(k)] * weight(k);
  if (out.proven()) {
    Entries shares;
    for (std::int32_t k = 0; k < p.cells(); ++k) out.append(shares, p.first + k, p.share[static_cast<std::size_t>(k)]);
    out.set_mean(std::move(shares));
  }
  const std::int32_t n = p.sides[1].levels();
  for (std::int32_t k = 0; k < p.cells(); ++k) {
    const LevelText first = level_of(p.sides[0], k / n), second = level_of(p.sides[1], k % n);
    ShapePiece& piece = out.add(output, p.name());
    piece.level = first.level;
    piece.above = first.above;
    piece.upto = first.upto;
    piece.contribution = weight(k) - mean;
    piece.share = p.share[static_cast<std::size_t>(k)];
    piece.with_level = second.level;
    piece.with_above = second.above;
    piece.with_upto = second.upto;
    if (!out.proven()) continue;
    Entries cell;
    out.append(cell, p.first + k, 1.0);
    out.prove(cell);
  }
}

std::vector<ShapePiece> shape(const Model& m, const Options& options, const std::optional<std::string>& column) {
  if (m.encoder == nullptr || !m.encoder->knows_means())
    throw Error(ErrorKind::unsupported, "margin_shape needs a model of rows with named columns",
                "Train on rows: train_margin(label, t, ...) FROM t, with bins => 64 for curves. Of arrays, "
                "margin_weights is all there is.");
  const Encoder& e = *m.encoder;
  const std::size_t wanted = column.has_value() ? e.term(*column) : e.terms();
  if (column.has_value() && wanted == e.terms())
    throw Error(ErrorKind::invalid_value, "the model has no column \"" + *column + "\"",
                "SELECT DISTINCT term FROM margin_shape(model) shows those that it has.");
  Pieces out(m, options);
  for (std::int32_t o = 0; o < m.outputs(); ++o)
    for (std::size_t t = 0; t < e.terms(); ++t) {
      if (column.has_value() && t != wanted) continue;
      if (const PairTerm* pair = e.pair({t, 0}))
        add_pair(m, *pair, o, out);
      else
        ColumnShape(m, e.columns()[t], o, out).add();
    }
  return out.result();
}

}  // namespace margin
