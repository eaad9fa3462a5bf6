// An encoder as plain values, and back: every part checked before anything is done with it (its pairs: pair_value.cpp).
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.hpp"
#include "core/encoder/bins.hpp"
#include "core/encoder/encoder.hpp"
#include "core/encoder/encoder_parts.hpp"

namespace margin {

using namespace encoder_parts;

namespace {

constexpr double version = 1, version_with_pairs = 2, version_with_sets = 3;  // with pairs or without

constexpr std::pair<const char*, Missing> missing_names[] = {{"as_trained", Missing::as_trained},
                                                             {"impute", Missing::impute},
                                                             {"skip", Missing::skip},
                                                             {"error", Missing::error}};

ColumnKind kind_from(const std::string& name, const std::string& where) {
  for (int k = 0; k <= static_cast<int>(ColumnKind::set); ++k)
    if (kind_name(static_cast<ColumnKind>(k)) == name) return static_cast<ColumnKind>(k);
  refuse("has the unknown kind \"" + name + "\"" + where);
}

/// The category without an indicator: true for the first, else its name.
void read_base(Column& c, const Value& value, const std::string& where) {
  const auto* name = std::get_if<std::string>(&value.data);
  if (name == nullptr && std::get_if<bool>(&value.data) == nullptr)
    refuse("has a \"reference\"" + where + " that is not true, false or a category");
  if (c.kind != ColumnKind::category) return;
  if (name == nullptr) {
    c.base = std::get<bool>(value.data) && !c.categories.empty() ? 0 : -1;
    return;
  }
  const auto found = std::lower_bound(c.categories.begin(), c.categories.end(), *name);
  if (found == c.categories.end() || *found != *name)
    refuse("has a \"reference\"" + where + " that is none of its categories");
  c.base = static_cast<std::int32_t>(found - c.categories.begin());
}

void read_width(Column& c, const Value::Object& object, const std::string& where) {
  const double* width = std::get_if<double>(&field(object, "width", where).data);
  if (width == nullptr || !(*width >= 0 && *width <= std::numeric_limits<std::int32_t>::max()) ||
      *width != std::floor(*width))
    refuse("has a \"width\"" + where + " that is not a count");
  c.width = static_cast<std::int32_t>(*width);
}

double share(const Value::Object& object, const char* name, const std::string& where) {
  const double* number = std::get_if<double>(&field(object, name, where).data);
  if (number == nullptr || !(*number >= 0 && *number <= 1 + 1e-9))
    refuse("has a \"" + std::string(name) + "\"" + where + " that is not a share");
  return *number;
}

/// What only columns have whose statistics were kept; `spread` is the object of that name.
ColumnSpread spread_from(const Value& value, const Column& c, const std::string& where) {
  const auto* object = std::get_if<Value::Object>(&value.data);
  if (object == nullptr) refuse("has a \"spread\"" + where + " that is not an object");
  require_keys(*object, {"missing", "mean", "deviation", "at"}, where);
  ColumnSpread out;
  out.missing = share(*object, "missing", where);
  const bool sparse = c.kind == ColumnKind::sparse, shares = listed(c.kind) || c.binned();
  if (sparse)
    for (const double at : numbers(*object, "at", where)) {
      if (!(at >= 0 && at < c.width) || at != std::floor(at) || (!out.at.empty() && at <= out.at.back()))
        refuse("has an \"at\"" + where + " that is not an ascending list of its features");
      out.at.push_back(static_cast<std::int32_t>(at));
    }
  if (sparse || shares) out.mean = numbers(*object, "mean", where);
  const bool told = object->find("deviation") != object->end();
  if (sparse || told) out.deviation = numbers(*object, "deviation", where);
  if (!sparse && !shares && !told) out.deviation = c.scale;
  const std::size_t count = sparse       ? out.at.size()
                            : c.binned() ? c.thresholds.size()
                            : shares     ? c.categories.size()
                                         : static_cast<std::size_t>(c.values());
  const std::size_t means = sparse || shares ? count : 0, deviations = shares ? 0 : count;
  if (out.mean.size() != means || out.deviation.size() != deviations || (!sparse && object->count("at") > 0) ||
      (!sparse && !shares && object->count("mean") > 0))
    refuse("has another number of \"mean\" or \"deviation\"" + where + " than of features");
  for (const double d : out.deviation)
    if (!(d >= 0)) refuse("has a \"deviation\"" + where + " that is negative");
  for (const double m : out.mean)
    if (shares && !(m >= 0 && m <= 1 + 1e-9)) refuse("has a \"mean\"" + where + " that is not a share");
  if (c.binned() && !std::is_sorted(out.mean.rbegin(), out.mean.rend()))
    refuse("has a \"mean\"" + where + " that rises with the thresholds");
  return out;
}

Value spread_value(const Column& c) {
  Value::Object out;
  out["missing"].data = c.spread->missing;
  const bool shares = listed(c.kind) || c.binned(), sparse = c.kind == ColumnKind::sparse;
  if (shares || sparse) out["mean"] = values(c.spread->mean);
  if (sparse) out["at"] = values({c.spread->at.begin(), c.spread->at.end()});
  if (!shares && (sparse || c.spread->deviation != c.scale)) out["deviation"] = values(c.spread->deviation);
  Value value;
  value.data = std::move(out);
  return value;
}

/// Of a column with its other parts.
Column read_thresholds(Column c, const Value::Object& object, const std::string& where) {
  c.thresholds = numbers(object, "thresholds", where);
  if (c.fill.size() != 1 || c.thresholds.empty() || c.thresholds.size() > most_bins)
    refuse("has another number of \"fill\" or \"thresholds\"" + where + " than bins have");
  require_ascending(c.thresholds, where);
  if (object.find("spread") == object.end()) refuse("has no \"spread\"" + where + ", which bins have");
  return c;
}

Column column_parts_from(const Value& value, std::size_t number) {
  std::string where = " in column " + std::to_string(number);
  const auto* object = std::get_if<Value::Object>(&value.data);
  if (object == nullptr) refuse("has a column " + std::to_string(number) + " that is not an object");
  require_keys(*object,
               {"name", "type", "kind", "missing", "unit", "categories", "reference", "width", "fill", "center",
                "scale", "offset", "spread", "thresholds", "grouping"},
               where);
  Column c;
  c.name = text(*object, "name", where);
  where = " of column \"" + c.name + "\"";
  c.type = text(*object, "type", where);
  c.kind = kind_from(text(*object, "kind", where), where);
  c.missing = flag(*object, "missing", where);
  const auto unit = object->find("unit");
  if (unit_of(c.kind).empty() ? unit != object->end() : text(*object, "unit", where) != unit_of(c.kind))
    refuse("has another \"unit\"" + where + " than that of its kind");
  const bool numbered = scalar(c.kind) || c.kind == ColumnKind::dense, category = c.kind == ColumnKind::category;
  const bool reference = object->find("reference") != object->end();
  const bool offset = object->find("offset") != object->end();
  if (offset) c.offset = flag(*object, "offset", where);
  const bool grouping = object->find("grouping") != object->end();
  if (grouping) c.grouping = flag(*object, "grouping", where);
  const bool cut = object->find("thresholds") != object->end() && scalar(c.kind) && !c.offset;
  const std::size_t parts = 4 + (offset && scalar(c.kind) ? 1 : 0) + object->count("spread") + (grouping ? 1 : 0) +
                            (reference && category ? 1 : 0) + (unit_of(c.kind).empty() ? 0 : 1) +
                            (block(c.kind) || category ? 1 : 0) +
                            (cut        ? 2
                             : numbered ? 3
                                        : 0);
  if (listed(c.kind)) read_categories(c, *object, where);
  if (reference) read_base(c, object->at("reference"), where);
  if (block(c.kind) && !listed(c.kind)) read_width(c, *object, where);
  if (object->size() > parts) refuse("has parts" + where + " that its kind does not have");
  if (!numbered) return c;
  c.fill = numbers(*object, "fill", where);
  if (cut) return read_thresholds(c, *object, where);
  c.center = numbers(*object, "center", where);
  c.scale = numbers(*object, "scale", where);
  const auto count = static_cast<std::size_t>(c.values());
  if (c.fill.size() != count || c.center.size() != count || c.scale.size() != count)
    refuse("has another number of \"fill\", \"center\" or \"scale\"" + where + " than of features");
  for (const double s : c.scale)
    if (!(s > 0) || !std::isfinite(1 / s)) refuse("has a \"scale\"" + where + " that is not positive, or too small");
  return c;
}

Column column_from(const Value& value, std::size_t number) {
  Column c = column_parts_from(value, number);
  const auto& object = std::get<Value::Object>(value.data);
  const auto spread = object.find("spread");
  if (spread != object.end()) c.spread = spread_from(spread->second, c, " of column \"" + c.name + "\"");
  if (c.kind == ColumnKind::set && !c.spread.has_value())
    refuse("has no \"spread\" of column \"" + c.name + "\", which sets have");
  return c;
}

bool is_set(const Column& c) { return c.kind == ColumnKind::set; }

std::vector<std::int32_t> dropped_from(const Value::Object& object, const std::vector<Column>& columns,
                                       const std::vector<PairTerm>& pairs) {
  CheckedSize all;
  for (const Column& c : columns) all += c.features();
  for (const PairTerm& p : pairs) all += p.cells();
  std::vector<std::int32_t> out;
  for (const double feature : numbers(object, "dropped", "")) {
    if (!(feature >= 0 && feature < 2147483647.0) || feature != std::floor(feature) ||
        all.fits(static_cast<std::int64_t>(feature)) || (!out.empty() && feature <= out.back()))
      refuse("has a \"dropped\" that is not an ascending list of its features");
    out.push_back(static_cast<std::int32_t>(feature));
  }
  return out;
}

}  // namespace

Value::Object Encoder::to_value() const {
  Value::Array columns;
  for (const Column& c : columns_) {
    Value::Object column;
    column["name"].data = c.name;
    column["type"].data = c.type;
    column["kind"].data = std::string(kind_name(c.kind));
    column["missing"].data = c.missing;
    if (!unit_of(c.kind).empty()) column["unit"].data = std::string(unit_of(c.kind));
    if (listed(c.kind)) {
      Value::Array names;
      for (const std::string& name : c.categories) names.emplace_back().data = name;
      column["categories"].data = std::move(names);
      if (c.base == 0) column["reference"].data = true;
      if (c.base > 0) column["reference"].data = c.categories[static_cast<std::size_t>(c.base)];
    } else if (block(c.kind)) {
      column["width"].data = static_cast<double>(c.width);
    }
    if (c.binned()) {
      column["fill"] = values(c.fill);
      column["thresholds"] = values(c.thresholds);
    } else if (scalar(c.kind) || c.kind == ColumnKind::dense) {
      column["fill"] = values(c.fill);
      column["center"] = values(c.center);
      column["scale"] = values(c.scale);
    }
    if (c.offset) column["offset"].data = true;
    if (c.grouping) column["grouping"].data = true;
    if (c.spread.has_value()) column["spread"] = spread_value(c);
    columns.emplace_back().data = std::move(column);
  }
  Value::Object out;
  const bool sets = std::any_of(columns_.begin(), columns_.end(), is_set);
  out["version"].data = sets ? version_with_sets : pairs_.empty() ? version : version_with_pairs;
  for (const auto& [name, missing] : missing_names)
    if (missing == missing_) out["missing"].data = std::string(name);
  if (label_unit_.has_value()) out["label_unit"].data = *label_unit_;
  out["unknown_features"].data = std::string(unknown_is_error_ ? "error" : "reference");
  if (!dropped_.empty()) out["dropped"] = values({dropped_.begin(), dropped_.end()});
  out["columns"].data = std::move(columns);
  if (pairs_.empty()) return out;
  out["pairs"] = pairs_value(pairs_);
  return out;
}

std::unique_ptr<const Encoder> Encoder::from_value(const Value& value) {
  const auto* object = std::get_if<Value::Object>(&value.data);
  if (object == nullptr) refuse("must be an object");
  const double* found = std::get_if<double>(&field(*object, "version", "").data);
  if (found == nullptr || (*found != version && *found != version_with_pairs && *found != version_with_sets))
    throw Error(ErrorKind::malformed, "malformed margin_model: field \"encoder\" has a version that is not 1, 2 or 3",
                "It was written by another version of margin: update this one, or train again.");
  require_keys(*object,
               {"version", "missing", "unknown_features", "columns", "label_unit", "dropped",
                *found >= version_with_pairs ? "pairs" : "columns"},
               "");
  const std::string missing = text(*object, "missing", ""), unknown = text(*object, "unknown_features", "");
  const auto* const rule = std::find_if(std::begin(missing_names), std::end(missing_names),
                                        [&](const auto& known) { return known.first == missing; });
  if (rule == std::end(missing_names)) refuse("has a \"missing\" that is not as_trained, impute, skip or error");
  if (unknown != "reference" && unknown != "error")
    refuse("has an \"unknown_features\" that is not reference or error");
  std::vector<Column> columns;
  const std::string nowhere;
  for (const Value& item : list(*object, "columns", nowhere)) {
    columns.push_back(column_from(item, columns.size() + 1));
    if (columns.size() > 1 && !(columns[columns.size() - 2].name < columns.back().name))
      refuse("has columns whose names do not ascend");
    if (is_set(columns.back()) && *found < version_with_sets)
      refuse("has the kind \"set\" of column \"" + columns.back().name + "\", which its version does not know");
  }
  std::optional<double> unit;
  if (object->find("label_unit") != object->end()) {
    const double* number = std::get_if<double>(&field(*object, "label_unit", "").data);
    if (number == nullptr || !(*number > 0 && std::isfinite(*number)))
      refuse("has a \"label_unit\" that is not a positive number");
    unit = *number;
  }
  std::vector<PairTerm> pairs;
  if (*found == version_with_pairs || object->count("pairs") > 0) pairs = pairs_from(*object, columns);
  std::vector<std::int32_t> dropped;
  if (object->find("dropped") != object->end()) dropped = dropped_from(*object, columns, pairs);
  return std::make_unique<const Encoder>(std::move(columns), rule->second, unknown == "error", unit, std::move(dropped),
                                         std::move(pairs));
}

double Encoder::bytes() const {
  double bytes = 0;
  for (const Column& c : columns_) {
    if (c.spread.has_value())
      bytes += 100 + 8.0 * static_cast<double>(c.spread->mean.size() + c.spread->deviation.size()) +
               4.0 * static_cast<double>(c.spread->at.size());
    bytes += 400 + 8.0 * static_cast<double>(c.fill.size() + c.center.size() + c.scale.size() + c.thresholds.size());
    for (const std::string& name : c.categories) bytes += 120 + static_cast<double>(name.size());
  }
  for (const PairTerm& p : pairs_) {
    bytes += 600 + 8.0 * static_cast<double>(p.share.size());
    for (const PairSide& side : p.sides) {
      bytes += 8.0 * static_cast<double>(side.thresholds.size()) + 4.0 * static_cast<double>(side.level_of.size());
      for (const std::string& name : side.categories) bytes += 40 + static_cast<double>(name.size());
    }
  }
  return bytes;
}

}  // namespace margin
