#include "core/encoder/encoder.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.hpp"
#include "core/base/write_number.hpp"

namespace margin {

namespace {

/// Below this width rows are written out: the indices would cost more than the zeros.
constexpr std::int32_t always_dense = 64;

/// Of a column in a row as indices and values, about.
CheckedSize entries_of(const Column& c) {
  if (c.kind == ColumnKind::category) return 1;
  if (c.kind == ColumnKind::sparse) return 0;
  if (c.kind != ColumnKind::set || !c.spread.has_value()) return c.features();
  const double usual = std::accumulate(c.spread->mean.begin(), c.spread->mean.end(), 1.0);
  return std::min<std::int64_t>(std::llround(usual), c.values() + 1);
}

}  // namespace

Encoder::Encoder(std::vector<Column> columns, Missing missing, bool unknown_is_error, std::optional<double> label_unit,
                 std::vector<std::int32_t> dropped, std::vector<PairTerm> pairs)
    : columns_(std::move(columns)),
      dropped_(std::move(dropped)),
      missing_(missing),
      unknown_is_error_(unknown_is_error),
      label_unit_(label_unit),
      pairs_(std::move(pairs)) {
  std::sort(columns_.begin(), columns_.end(), [](const Column& a, const Column& b) { return a.name < b.name; });
  CheckedSize width, entries;
  for (Column& c : columns_) {
    c.first = width_;
    width += c.features();
    entries += entries_of(c);
    sparse_ = sparse_ || c.kind == ColumnKind::sparse;
    width_ = width.index("the columns together", "features", "Leave out columns with the option exclude.");
  }
  for (PairTerm& p : pairs_) {
    for (PairSide& side : p.sides) side.bind(columns_);
    p.first = width_;
    width += p.cells();
    entries += 1;
    width_ =
        width.index("the columns and pairs together", "features", "Name fewer pairs with the option interactions.");
  }
  for (const Column& c : columns_) term_names_.push_back(c.name);
  for (const PairTerm& p : pairs_) term_names_.push_back(p.name());
  numbers_ = dropped_.empty() && pairs_.empty();
  for (const Column& c : columns_) starts_.push_back(place_of(c.first));
  for (const PairTerm& p : pairs_) starts_.push_back(place_of(p.first));
  width_ = place_of(width_);
  starts_.push_back(width_);
  sparse_ = sparse_ || (width_ > always_dense && (3 * entries).fits(width_ - 1));
  for (const Column& c : columns_) {
    slots_.push_back({c.kind, c.missing, c.first, 0, 0, 1});
    const bool number = scalar(c.kind) && !c.binned();
    numbers_ = numbers_ && number && !sparse_;
    if (!number) continue;
    slots_.back().fill = c.fill[0];
    slots_.back().center = c.center[0];
    slots_.back().inverse = 1 / c.scale[0];
  }
  index_.resize(columns_.size());
  for (std::size_t j = 0; j < columns_.size(); ++j)
    for (std::size_t k = 0; k < columns_[j].categories.size(); ++k)
      index_[j].emplace(columns_[j].categories[k], static_cast<std::int32_t>(k));
}

std::int32_t Encoder::place_of(std::int32_t whole) const {
  return whole -
         static_cast<std::int32_t>(std::lower_bound(dropped_.begin(), dropped_.end(), whole) - dropped_.begin());
}

std::int32_t Encoder::feature_of(std::int32_t whole) const {
  return std::binary_search(dropped_.begin(), dropped_.end(), whole) ? -1 : place_of(whole);
}

std::int32_t Encoder::category(std::size_t column, std::string_view name) const {
  const auto found = index_[column].find(name);
  return found == index_[column].end() ? -1 : found->second;
}

void Encoder::require_known(std::size_t column, std::string_view name) const {
  if (!unknown_is_error_ || columns_[column].grouping) return;
  throw Error(ErrorKind::invalid_value,
              "column \"" + columns_[column].name + "\" has the " +
                  (columns_[column].kind == ColumnKind::set ? "element" : "value") + " \"" + std::string(name) +
                  "\", which the training did not have",
              "Is it misspelt? To have such values count as none of the known ones, train with "
              "margin_options(unknown_features => 'reference').");
}

/// Writes the features of one row, in ascending order.
class Encoder::Writer {
 public:
  Writer(const Encoder& encoder, Scratch& scratch)
      : s_(scratch),
        width_(encoder.width_),
        sparse_(encoder.sparse_),
        dropped_(encoder.dropped_.empty() ? nullptr : &encoder) {
    s_.indices.clear();
    if (sparse_)
      s_.values.clear();
    else
      s_.values.assign(static_cast<std::size_t>(width_), 0.0);
  }
  void put(std::int32_t feature, double value) {
    if (dropped_ != nullptr) {
      feature = dropped_->feature_of(feature);
      if (feature < 0) return;
    }
    if (!sparse_) {
      s_.values[static_cast<std::size_t>(feature)] = value;
      return;
    }
    if (value == 0) return;
    s_.indices.push_back(feature);
    s_.values.push_back(value);
  }
  FeatureRow row() const {
    if (!sparse_) return dense_row(s_.values.data(), width_);
    return sparse_row(s_.indices.data(), s_.values.data(), static_cast<std::int32_t>(s_.values.size()), width_);
  }

 private:
  Scratch& s_;
  std::int32_t width_;
  bool sparse_;
  const Encoder* dropped_;  // null: it has all features
};

namespace {

/// Whether the row is left out for its missing value; throws where that is to be an error.
bool skips_missing(const Column& c, Missing missing) {
  refuse_missing(c, missing, c.missing);
  return missing == Missing::skip && !c.grouping;
}

}  // namespace

/// As encode(), where that is the larger part of a prediction.
std::optional<FeatureRow> Encoder::encode_numbers(const Cells& cells, Scratch& scratch) const {
  scratch.values.resize(static_cast<std::size_t>(width_));
  double* out = scratch.values.data();
  const double* value = cells.values.data();
  bool whole = slots_.size() == scratch.values.size();
  for (std::size_t j = 0; j < slots_.size(); ++j) whole &= !std::isnan(value[j]);
  if (whole) {  // the usual case, without a branch for each number
    for (std::size_t j = 0; j < slots_.size(); ++j) out[j] = (value[j] - slots_[j].center) * slots_[j].inverse;
    return dense_row(out, width_);
  }
  for (std::size_t j = 0; j < slots_.size(); ++j) {
    const Slot& s = slots_[j];
    const bool missing = std::isnan(value[j]);
    if (missing && skips_missing(columns_[j], missing_)) return std::nullopt;
    *out++ = ((missing ? s.fill : value[j]) - s.center) * s.inverse;
    if (s.missing) *out++ = missing ? 1 : 0;
  }
  return dense_row(scratch.values.data(), width_);
}

std::optional<FeatureRow> Encoder::encode(const Cells& cells, Scratch& scratch) const {
  if (numbers_) return encode_numbers(cells, scratch);
  Writer out(*this, scratch);
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    const Slot& s = slots_[j];
    const double v = cells.values[j];
    const bool missing = std::isnan(v);
    if (missing && skips_missing(columns_[j], missing_)) return std::nullopt;
    if (columns_[j].binned()) {
      const Column& c = columns_[j];
      for (std::int32_t k = 0, above = c.bin(missing ? c.fill[0] : v); k < above; ++k) out.put(s.first + k, 1);
      if (missing && s.missing) out.put(s.first + c.values(), 1);
      continue;
    }
    if (scalar(s.kind)) {
      out.put(s.first, ((missing ? s.fill : v) - s.center) * s.inverse);
      if (missing && s.missing) out.put(s.first + 1, 1);
      continue;
    }
    if (s.kind == ColumnKind::category && !missing) {
      const std::int32_t at = columns_[j].indicator_of(static_cast<std::int32_t>(v));
      if (at >= 0) out.put(s.first + at, 1);
      continue;
    }
    const Column& c = columns_[j];
    if (listed(c.kind)) {
      for (std::int32_t k = 0; !missing && k < cells.blocks[j].count; ++k)
        out.put(c.first + cells.blocks[j].indices[k], 1);
      // Without a level of its own NULL is as the rows of the training are on average.
      for (std::int32_t k = 0; missing && !c.missing && c.spread.has_value() && k < c.values(); ++k)
        out.put(c.first + k, c.spread->mean[static_cast<std::size_t>(c.category_of(k))]);
    } else if (c.kind == ColumnKind::dense) {
      const FeatureRow& x = cells.blocks[j];
      if (!missing && (x.indices != nullptr || x.count != c.width))
        throw Error(ErrorKind::wrong_dimensions, "column \"" + c.name + "\" has " + std::to_string(x.dimensions) +
                                                     " elements, expected " + std::to_string(c.width));
      for (std::int32_t k = 0; k < c.width; ++k) {
        const auto at = static_cast<std::size_t>(k);
        out.put(c.first + k, ((missing ? c.fill[at] : x.value(k)) - c.center[at]) / c.scale[at]);
      }
    } else if (!missing) {
      const FeatureRow& x = cells.blocks[j];
      for (std::int32_t k = 0; k < x.count; ++k) {
        const std::int32_t at = x.indices != nullptr ? x.indices[k] : k;
        if (at < c.width) {
          out.put(c.first + at, x.value(k));
          continue;
        }
        if (unknown_is_error_)
          throw Error(ErrorKind::wrong_dimensions, "column \"" + c.name + "\" has feature " + std::to_string(at + 1) +
                                                       ", which the training did not have");
        break;
      }
    }
    if (missing && c.missing) out.put(c.first + c.values(), 1);
  }
  for (const PairTerm& p : pairs_) {
    const std::int32_t cell = p.cell(cells.values.data());
    if (cell >= 0) out.put(p.first + cell, 1);
  }
  return out.row();
}

Encoder::Place Encoder::place(std::int32_t feature) const {
  // As many were dropped before it as there are i with dropped[i] − i ≤ feature, which ascends.
  std::size_t low = 0, high = dropped_.size();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (dropped_[middle] - static_cast<std::int32_t>(middle) <= feature)
      low = middle + 1;
    else
      high = middle;
  }
  return place_of_whole(feature + static_cast<std::int32_t>(low));
}

Encoder::Place Encoder::place_of_whole(std::int32_t whole) const {
  if (!pairs_.empty() && whole >= pairs_.front().first) {
    const auto behind = std::upper_bound(pairs_.begin(), pairs_.end(), whole,
                                         [](std::int32_t f, const PairTerm& p) { return f < p.first; });
    const auto pair = static_cast<std::size_t>(behind - pairs_.begin()) - 1;
    return {columns_.size() + pair, whole - pairs_[pair].first};
  }
  const auto after = std::upper_bound(columns_.begin(), columns_.end(), whole,
                                      [](std::int32_t f, const Column& c) { return f < c.first; });
  // Columns without features share the place of the one behind them: the last of them has it.
  const std::size_t column = static_cast<std::size_t>(after - columns_.begin()) - 1;
  return {column, whole - columns_[column].first};
}

std::size_t Encoder::term(std::string_view name) const {
  for (std::size_t t = 0; t < terms(); ++t)
    if (term_names_[t] == name) return t;
  for (std::size_t p = 0; p < pairs_.size(); ++p)
    if (pairs_[p].sides[1].column + "*" + pairs_[p].sides[0].column == name) return columns_.size() + p;
  return terms();
}

Encoder::Span Encoder::span(std::size_t term) const {
  if (const PairTerm* p = pair({term, 0})) return {p->first, p->cells()};
  return {columns_[term].first, columns_[term].features().index("a column", "features")};
}

std::string Encoder::name_at(const Place& at) const {
  if (const PairTerm* p = pair(at)) return p->cell_text(at.value);
  const Column& c = columns_[at.column];
  if (at.value == c.values()) return c.name + " IS NULL";
  if (c.kind == ColumnKind::category) return c.name + "=" + c.category(at.value);
  if (c.kind == ColumnKind::set) return c.name + ": " + c.category(at.value);
  if (c.binned()) return c.name + " > " + shortest(c.thresholds[static_cast<std::size_t>(at.value)]);
  return scalar(c.kind) ? c.name : c.name + "[" + std::to_string(at.value + 1) + "]";
}

std::string Encoder::feature_name(std::int32_t feature) const { return name_at(place(feature)); }

std::vector<std::string> Encoder::dropped_names() const {
  std::vector<std::string> out;
  for (const std::int32_t whole : dropped_) out.push_back(name_at(place_of_whole(whole)));
  return out;
}

double Encoder::scale(std::int32_t feature) const {
  const Place at = place(feature);
  if (pair(at) != nullptr) return 1;
  const Column& c = columns_[at.column];
  return static_cast<std::size_t>(at.value) < c.scale.size() ? c.scale[static_cast<std::size_t>(at.value)] : 1;
}

double Encoder::center(std::int32_t feature) const {
  const Place at = place(feature);
  if (pair(at) != nullptr) return 0;
  const Column& c = columns_[at.column];
  return static_cast<std::size_t>(at.value) < c.center.size() ? c.center[static_cast<std::size_t>(at.value)] : 0;
}

bool Encoder::knows_means() const {
  return std::all_of(columns_.begin(), columns_.end(), [](const Column& c) { return c.spread.has_value(); });
}

double Encoder::mean(std::int32_t feature) const {
  const Place at = place(feature);
  if (const PairTerm* p = pair(at)) return p->share[static_cast<std::size_t>(at.value)];
  const Column& c = columns_[at.column];
  const ColumnSpread& spread = *c.spread;
  if (at.value == c.values()) return spread.missing;
  const auto value = static_cast<std::size_t>(at.value);
  if (c.binned()) return spread.mean[value];
  if (listed(c.kind)) return spread.mean[static_cast<std::size_t>(c.category_of(at.value))];
  if (c.kind != ColumnKind::sparse) return (c.fill[value] - c.center[value]) / c.scale[value];
  const auto found = std::lower_bound(spread.at.begin(), spread.at.end(), at.value);
  return found == spread.at.end() || *found != at.value
             ? 0
             : spread.mean[static_cast<std::size_t>(found - spread.at.begin())];
}

bool Encoder::takes_null(const Column& c) const {
  if (c.offset) return false;
  if (c.grouping) return true;
  return missing_ == Missing::impute || (missing_ == Missing::as_trained && c.missing);
}

std::vector<double> Encoder::of_null(const Column& c) const {
  std::vector<double> out;
  const auto n = static_cast<std::size_t>(c.values());
  if (c.binned()) {
    out = c.features_of_bin(c.bin(c.fill[0]));
    if (c.missing) out.back() = 1;
    return out;
  }
  for (std::size_t k = 0; k < n; ++k) {
    if (c.kind == ColumnKind::dense)
      out.push_back((c.fill[k] - c.center[k]) / c.scale[k]);
    else if (scalar(c.kind))
      out.push_back((c.fill[0] - c.center[0]) * (1 / c.scale[0]));
    else
      out.push_back(c.missing || !c.spread.has_value()
                        ? 0
                        : c.spread->mean[static_cast<std::size_t>(c.category_of(static_cast<std::int32_t>(k)))]);
  }
  if (c.missing) out.push_back(1);
  return out;
}

}  // namespace margin
