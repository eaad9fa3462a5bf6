// Pairs as plain values, and back: every part checked before anything is done with it.
#include "core/encoder/encoder_parts.hpp"

namespace margin::encoder_parts {

namespace {

PairSide side_from(const Value& value, const std::vector<Column>& columns, const std::string& where) {
  const auto* object = std::get_if<Value::Object>(&value.data);
  if (object == nullptr) refuse("has a side" + where + " that is not an object");
  PairSide side{text(*object, "column", where)};
  const auto found = std::lower_bound(columns.begin(), columns.end(), side.column,
                                      [](const Column& c, const std::string& name) { return c.name < name; });
  if (found == columns.end() || found->name != side.column || !pairs_with_others(*found))
    refuse("has a \"column\"" + where + " that is none of pairs");
  side.kind = found->kind;
  side.missing = flag(*object, "missing", where);
  if (side.missing && !found->missing) refuse("has a level of NULL" + where + " that its column does not have");
  const bool listed = side.kind == ColumnKind::category, cut = !listed && side.kind != ColumnKind::boolean;
  require_keys(*object,
               {"column", "missing",
                listed ? "categories"
                : cut  ? "thresholds"
                       : "column",
                listed ? "others" : "column"},
               where);
  if (cut) {
    side.thresholds = numbers(*object, "thresholds", where);
    require_ascending(side.thresholds, where);
  } else if (listed) {
    Column own;
    read_categories(own, *object, where);
    side.categories = std::move(own.categories);
    side.others = flag(*object, "others", where);
    if (!std::includes(found->categories.begin(), found->categories.end(), side.categories.begin(),
                       side.categories.end()))
      refuse("has a category" + where + " that its column does not have");
  }
  if (side.thresholds.size() >= most_cells || side.levels() > most_cells) refuse("has too many levels" + where);
  return side;
}

}  // namespace

std::vector<PairTerm> pairs_from(const Value::Object& object, const std::vector<Column>& columns) {
  std::vector<PairTerm> out;
  const std::string whole;  // of a name, so that later compilers see that what list() returns is no part of it
  for (const Value& item : list(object, "pairs", whole)) {
    const std::string where = " in pair " + std::to_string(out.size() + 1);
    const auto* parts = std::get_if<Value::Object>(&item.data);
    if (parts == nullptr) refuse("has a pair " + std::to_string(out.size() + 1) + " that is not an object");
    require_keys(*parts, {"sides", "share"}, where);
    const Value::Array& sides = list(*parts, "sides", where);
    if (sides.size() != 2) refuse("has other \"sides\"" + where + " than two");
    PairTerm pair{{side_from(sides[0], columns, where), side_from(sides[1], columns, where)}};
    if (!(pair.sides[0].column < pair.sides[1].column)) refuse("has \"sides\"" + where + " that do not ascend");
    const std::int64_t cells = std::int64_t{pair.sides[0].levels()} * pair.sides[1].levels();
    pair.share = numbers(*parts, "share", where);
    if (cells < 1 || cells > most_cells || pair.share.size() != static_cast<std::size_t>(cells))
      refuse("has another number of \"share\"" + where + " than of cells");
    double all = 0;
    for (const double s : pair.share) {
      if (!(s >= 0)) refuse("has a \"share\"" + where + " that is negative");
      all += s;
    }
    if (!(all <= 1 + 1e-6)) refuse("has a \"share\"" + where + " above that of all rows");
    for (const PairTerm& other : out)
      if (other.name() == pair.name()) refuse("has the pair \"" + pair.name() + "\" twice");
    for (const Column& c : columns)
      if (c.name == pair.name()) refuse("has a pair with the name of the column \"" + c.name + "\"");
    out.push_back(std::move(pair));
  }
  if (out.empty()) refuse("has no pair in \"pairs\"");
  for (const Column& c : columns)
    if (!c.spread.has_value()) refuse("has no \"spread\" of column \"" + c.name + "\", which encoders with pairs have");
  return out;
}

static Value pair_value(const PairTerm& pair) {
  Value::Array sides;
  for (const PairSide& side : pair.sides) {
    Value::Object part;
    part["column"].data = side.column;
    part["missing"].data = side.missing;
    if (side.kind == ColumnKind::category) {
      Value::Array names;
      for (const std::string& name : side.categories) names.emplace_back().data = name;
      part["categories"].data = std::move(names);
      part["others"].data = side.others;
    } else if (side.kind != ColumnKind::boolean) {
      part["thresholds"] = values(side.thresholds);
    }
    sides.emplace_back().data = std::move(part);
  }
  Value::Object out;
  out["sides"].data = std::move(sides);
  out["share"] = values(pair.share);
  Value value;
  value.data = std::move(out);
  return value;
}

Value pairs_value(const std::vector<PairTerm>& pairs) {
  Value::Array out;
  for (const PairTerm& p : pairs) out.push_back(pair_value(p));
  Value value;
  value.data = std::move(out);
  return value;
}

}  // namespace margin::encoder_parts
